// expect: wgsl/syntax 3
fn f(a: u32) -> u32 {
  return a << 1u + 2u;
}
