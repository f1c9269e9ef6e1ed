// expect: wgsl/type-mismatch 4
fn g(p: ptr<function, i32>) {}
fn f() {
  g(1);
}
