// Remainder of magnitudes by subtracting doubled divisors, largest first: every step is exact. The loops are counted, since
// a device may take a small divisor for zero and need not know infinity; f64 has 2,098 powers of two.
fn rest_f32(a: f32, b: f32) -> f32 {
  let d = abs(b);
  var r = abs(a);
  if (d != d || r != r || d == 0.0 || r - r != 0.0) { return (a - a) / (b - b); }
  if (d - d != 0.0) { return a; }
  var step = d;
  for (var k = 0u; k < 2100u && step <= r * 0.5; k++) { step *= 2.0; }
  for (var k = 0u; k < 2100u && step >= d; k++) {
    if (r >= step) { r -= step; }
    step *= 0.5;
  }
  return select(r, -r, a < 0.0);
}
fn mod_f32(a: f32, b: f32, truncated: bool) -> f32 {
  let r = rest_f32(a, b);
  if (!truncated && r != 0.0 && (r < 0.0) != (b < 0.0)) { return r + b; }
  return r;
}
fn mod_i32(a: i32, b: i32, truncated: bool) -> i32 {
  let r = a % b;
  if (!truncated && r != 0 && (r ^ b) < 0) { return r + b; }
  return r;
}
// 64 bits by shift and subtract; x % 0 is 0, as WGSL defines for 32 bits.
fn rest_u64(n: vec2<u32>, d: vec2<u32>) -> vec2<u32> {
  var rest = vec2<u32>(0u, 0u);
  if ((d.x | d.y) == 0u) { return rest; }
  for (var i = 0u; i < 64u; i++) {
    let at = 63u - i;
    let bit = (select(n.x, n.y, at >= 32u) >> (at & 31u)) & 1u;
    let carry = rest.y >> 31u;
    rest = vec2<u32>((rest.x << 1u) | bit, (rest.y << 1u) | (rest.x >> 31u));
    let below = rest.y < d.y || (rest.y == d.y && rest.x < d.x);
    if (carry == 1u || !below) {
      let borrow = select(0u, 1u, rest.x < d.x);
      rest = vec2<u32>(rest.x - d.x, rest.y - d.y - borrow);
    }
  }
  return rest;
}
fn neg64(a: vec2<u32>) -> vec2<u32> {
  let low = ~a.x + 1u;
  return vec2<u32>(low, ~a.y + select(0u, 1u, low == 0u));
}
fn magnitude64(a: vec2<u32>) -> vec2<u32> {
  if ((a.y >> 31u) == 1u) { return neg64(a); }
  return a;
}
fn add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn mod_i64(a: vec2<u32>, b: vec2<u32>, truncated: bool) -> vec2<u32> {
  var r = rest_u64(magnitude64(a), magnitude64(b));
  if ((a.y >> 31u) == 1u) { r = neg64(r); }
  if (!truncated && (r.x | r.y) != 0u && ((r.y ^ b.y) >> 31u) == 1u) { return add64(r, b); }
  return r;
}
