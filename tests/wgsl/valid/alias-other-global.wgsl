var<private> x: i32;
var<private> y: i32;
fn g(a: ptr<private, i32>) {
  *a = y;
}
fn f() {
  g(&x);
}
