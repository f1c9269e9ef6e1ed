// expect: wgsl/aliased-pointers 11
var<private> x: i32;
fn h() {
  x = 1;
}
fn g(a: ptr<private, i32>) {
  h();
  let b = *a;
}
fn f() {
  g(&x);
}
