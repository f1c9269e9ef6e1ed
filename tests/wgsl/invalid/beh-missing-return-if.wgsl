// expect: wgsl/missing-return 6
fn f(a: bool) -> i32 {
  if a {
    return 1;
  }
}
