// 64-bit addition on (low, high) pairs, wrapping.
fn add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  let carry = select(0u, 1u, low < a.x);
  return vec2<u32>(low, a.y + b.y + carry);
}
