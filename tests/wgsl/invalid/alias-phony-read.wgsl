// expect: wgsl/aliased-pointers 8
var<private> x: i32;
fn g(a: ptr<private, i32>) {
  _ = *a;
  x = 1;
}
fn f() {
  g(&x);
}
