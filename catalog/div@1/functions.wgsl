fn neg64(a: vec2<u32>) -> vec2<u32> {
  let low = ~a.x + 1u;
  return vec2<u32>(low, ~a.y + select(0u, 1u, low == 0u));
}
// 64-bit division by shift and subtract; x / 0 is x, as WGSL defines for 32 bits.
fn divide_u64(n: vec2<u32>, d: vec2<u32>) -> vec2<u32> {
  if (d.x == 0u && d.y == 0u) { return n; }
  var quotient = vec2<u32>(0u, 0u);
  var rest = vec2<u32>(0u, 0u);
  for (var i = 0u; i < 64u; i++) {
    let at = 63u - i;
    let bit = (select(n.x, n.y, at >= 32u) >> (at & 31u)) & 1u;
    let carry = rest.y >> 31u;
    rest = vec2<u32>((rest.x << 1u) | bit, (rest.y << 1u) | (rest.x >> 31u));
    let below = rest.y < d.y || (rest.y == d.y && rest.x < d.x);
    if (carry == 1u || !below) {
      let borrow = select(0u, 1u, rest.x < d.x);
      rest = vec2<u32>(rest.x - d.x, rest.y - d.y - borrow);
      if (at >= 32u) { quotient.y |= 1u << (at - 32u); } else { quotient.x |= 1u << at; }
    }
  }
  return quotient;
}
fn magnitude64(a: vec2<u32>) -> vec2<u32> {
  if ((a.y >> 31u) == 1u) { return neg64(a); }
  return a;
}
fn divide_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let q = divide_u64(magnitude64(a), magnitude64(b));
  if ((b.x | b.y) == 0u) { return a; }
  if (((a.y ^ b.y) >> 31u) == 1u) { return neg64(q); }
  return q;
}
