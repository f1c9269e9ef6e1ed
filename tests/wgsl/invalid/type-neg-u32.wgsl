// expect: wgsl/no-overload 3
fn f(a: u32) -> u32 {
  return -a;
}
