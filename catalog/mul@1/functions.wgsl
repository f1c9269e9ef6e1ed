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
