// expect: wgsl/bad-token 3
fn f(a: bool) -> i32 {
  return a ? 1 : 2;
}
