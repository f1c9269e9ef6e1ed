// expect: wgsl/syntax 6
fn g() -> i32 {
  return 1;
}
fn f() {
  g() = 2;
}
