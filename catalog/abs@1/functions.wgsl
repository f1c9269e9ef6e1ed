fn neg64(a: vec2<u32>) -> vec2<u32> {
  let low = ~a.x + 1u;
  return vec2<u32>(low, ~a.y + select(0u, 1u, low == 0u));
}
fn magnitude64(a: vec2<u32>) -> vec2<u32> {
  if ((a.y >> 31u) == 1u) { return neg64(a); }
  return a;
}
