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
fn i64_of_i32(x: i32) -> vec2<u32> { return vec2<u32>(bitcast<u32>(x), select(0u, 0xffffffffu, x < 0)); }
// The highest 32 bits, the lowest of them set where bits below are not zero, rounded once.
fn f32_of_u64(x: vec2<u32>) -> f32 {
  if (x.y == 0u) { return f32(x.x); }
  let shift = 32u - countLeadingZeros(x.y);
  var top = x.y;
  var rest = x.x;
  if (shift < 32u) {
    top = (x.y << (32u - shift)) | (x.x >> shift);
    rest = x.x << (32u - shift);
  }
  return ldexp(f32(top | select(0u, 1u, rest != 0u)), i32(shift));
}
fn f32_of_i64(x: vec2<u32>) -> f32 {
  if ((x.y >> 31u) == 1u) { return -f32_of_u64(neg64(x)); }
  return f32_of_u64(x);
}
