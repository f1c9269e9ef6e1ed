// expect: wgsl/type-mismatch 4
fn g(a: i32) {}
fn f() {
  g(1.5);
}
