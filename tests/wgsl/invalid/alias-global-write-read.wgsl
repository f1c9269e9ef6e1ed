// expect: wgsl/aliased-pointers 7
var<private> x: i32;
fn g(a: ptr<private, i32>) {
  x = *a;
}
fn f() {
  g(&x);
}
