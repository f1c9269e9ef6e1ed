// expect: wgsl/const-error 3
fn f(a: u32) -> u32 {
  return extractBits(a, 20u, 20u);
}
