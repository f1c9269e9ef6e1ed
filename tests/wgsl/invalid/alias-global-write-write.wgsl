// expect: wgsl/aliased-pointers 8
var<private> x: i32;
fn g(a: ptr<private, i32>) {
  *a = 1;
  x = 2;
}
fn f() {
  g(&x);
}
