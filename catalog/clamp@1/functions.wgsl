// Conversions that WGSL leaves to the implementation: saturation, 64-bit integers as (low, high), NaN to 0.
fn i32_of_f32(x: f32) -> i32 {
  if (x >= 2147483648.0) { return 2147483647; }
  if (x <= -2147483648.0) { return bitcast<i32>(0x80000000u); }
  return select(0, i32(x), x == x);
}
fn u32_of_f32(x: f32) -> u32 {
  if (x >= 4294967296.0) { return 0xffffffffu; }
  return select(0u, u32(x), x > 0.0);
}
fn u64_of_f32(x: f32) -> vec2<u32> {
  if (x >= 18446744073709551616.0) { return vec2<u32>(0xffffffffu, 0xffffffffu); }
  if (!(x > 0.0)) { return vec2<u32>(0u, 0u); }
  let high = floor(x / 4294967296.0);
  return vec2<u32>(u32(x - high * 4294967296.0), u32(high));
}
fn i64_of_f32(x: f32) -> vec2<u32> {
  if (x >= 9223372036854775808.0) { return vec2<u32>(0xffffffffu, 0x7fffffffu); }
  if (x <= -9223372036854775808.0) { return vec2<u32>(0u, 0x80000000u); }
  let size = u64_of_f32(abs(x));
  if (x < 0.0) { return neg64(size); }
  return size;
}
fn neg64(a: vec2<u32>) -> vec2<u32> {
  let low = ~a.x + 1u;
  return vec2<u32>(low, ~a.y + select(0u, 1u, low == 0u));
}
// Order of 64-bit numbers held as (low, high).
fn less_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  if (a.y == b.y) { return a.x < b.x; }
  return bitcast<i32>(a.y) < bitcast<i32>(b.y);
}
fn less_u64(a: vec2<u32>, b: vec2<u32>) -> bool {
  if (a.y == b.y) { return a.x < b.x; }
  return a.y < b.y;
}
fn clamp_i64(x: vec2<u32>, low: vec2<u32>, high: vec2<u32>) -> vec2<u32> {
  let y = select(x, low, less_i64(x, low));
  return select(y, high, less_i64(high, y));
}
fn clamp_u64(x: vec2<u32>, low: vec2<u32>, high: vec2<u32>) -> vec2<u32> {
  let y = select(x, low, less_u64(x, low));
  return select(y, high, less_u64(high, y));
}
