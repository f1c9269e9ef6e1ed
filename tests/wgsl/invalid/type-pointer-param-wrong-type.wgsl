// expect: wgsl/type-mismatch 5
fn g(p: ptr<function, i32>) {}
fn f() {
  var a = 1u;
  g(&a);
}
