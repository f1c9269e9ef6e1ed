// expect: wgsl/const-error 3
fn f(a: i32) -> i32 {
  return a / 0;
}
