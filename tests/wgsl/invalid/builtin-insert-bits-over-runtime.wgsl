// expect: wgsl/const-error 3
fn f(a: u32) -> u32 {
  return insertBits(a, 1u, 30u, 3u);
}
