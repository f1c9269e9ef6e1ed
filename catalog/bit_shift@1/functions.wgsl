// direction 0 is to the left, 1 to the right.
fn shift_u32(a: u32, b: u32, direction: u32) -> u32 {
  if (b >= 32u) { return 0u; }
  return select(a >> b, a << b, direction == 0u);
}
fn shift_u64(a: vec2<u32>, b: vec2<u32>, direction: u32) -> vec2<u32> {
  if (b.y != 0u || b.x >= 64u) { return vec2<u32>(0u, 0u); }
  let n = b.x & 31u;
  let whole = b.x >= 32u;
  if (direction == 0u) {
    if (whole) { return vec2<u32>(0u, a.x << n); }
    return vec2<u32>(a.x << n, (a.y << n) | select(a.x >> (32u - max(n, 1u)), 0u, n == 0u));
  }
  if (whole) { return vec2<u32>(a.y >> n, 0u); }
  return vec2<u32>((a.x >> n) | select(a.y << (32u - max(n, 1u)), 0u, n == 0u), a.y >> n);
}
