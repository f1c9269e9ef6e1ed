// expect: wgsl/type-mismatch 5
var<private> a: i32;
fn g(p: ptr<function, i32>) {}
fn f() {
  g(&a);
}
