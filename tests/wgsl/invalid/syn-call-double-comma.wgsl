// expect: wgsl/syntax 4
fn f(a: i32) {}
fn g() {
  f(1,,);
}
