// a to the power b for any sign of a: WGSL's pow is defined for a >= 0 only.
fn power_f32(a: f32, b: f32) -> f32 {
  if (b == 0.0) { return 1.0; }
  let size = pow(abs(a), b);
  if ((bitcast<u32>(a) >> 31u) == 0u) { return size; }
  let bits = bitcast<u32>(a) & 0x7fffffffu; // a zero or an infinity has a size, whatever b is
  if (b != trunc(b) && (bits == 0u || bits == 0x7f800000u)) { return size; }
  if (b != trunc(b)) { return bitcast<f32>(0x7fc00000u | (bitcast<u32>(b) & 0u)); }
  let half = b * 0.5;
  return select(size, -size, half != trunc(half));
}
fn power_i32(a: i32, b: i32) -> i32 {
  if (b < 0) {
    if (a == 1) { return 1; }
    if (a == -1) { return select(1, -1, (b & 1) == 1); }
    return 0;
  }
  var result = 1;
  var base = a;
  for (var e = u32(b); e > 0u; e >>= 1u) {
    if ((e & 1u) == 1u) { result *= base; }
    base *= base;
  }
  return result;
}
fn power_u32(a: u32, b: u32) -> u32 {
  var result = 1u;
  var base = a;
  for (var e = b; e > 0u; e >>= 1u) {
    if ((e & 1u) == 1u) { result *= base; }
    base *= base;
  }
  return result;
}
// 64-bit product of (low, high) pairs, wrapping: schoolbook on 16-bit halves of the low words.
fn mul64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let a0 = a.x & 0xffffu;
  let a1 = a.x >> 16u;
  let b0 = b.x & 0xffffu;
  let b1 = b.x >> 16u;
  let mid = a1 * b0 + ((a0 * b0) >> 16u);
  let cross = a0 * b1 + (mid & 0xffffu);
  let high = a1 * b1 + (mid >> 16u) + (cross >> 16u);
  return vec2<u32>(a.x * b.x, high + a.x * b.y + a.y * b.x);
}
fn power_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  var result = vec2<u32>(1u, 0u);
  var base = a;
  var e = b;
  while ((e.x | e.y) != 0u) {
    if ((e.x & 1u) == 1u) { result = mul64(result, base); }
    base = mul64(base, base);
    e = vec2<u32>((e.x >> 1u) | (e.y << 31u), e.y >> 1u);
  }
  return result;
}
fn power_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  if ((b.y >> 31u) == 1u) {
    if (a.x == 1u && a.y == 0u) { return a; }
    if (a.x == 0xffffffffu && a.y == 0xffffffffu) { return select(vec2<u32>(1u, 0u), a, (b.x & 1u) == 1u); }
    return vec2<u32>(0u, 0u);
  }
  return power_u64(a, b);
}
