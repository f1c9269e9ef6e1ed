fn sign64(x: vec2<u32>) -> vec2<u32> {
  if ((x.y >> 31u) == 1u) { return vec2<u32>(0xffffffffu, 0xffffffffu); }
  return vec2<u32>(select(0u, 1u, (x.x | x.y) != 0u), 0u);
}
