fn g(a: ptr<function, i32>, b: ptr<function, i32>) {
  *a = 1;
}
fn f() {
  var x = 1;
  g(&x, &x);
}
