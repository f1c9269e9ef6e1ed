fn g(a: ptr<function, i32>, v: i32) {
  *a = v;
}
fn f() {
  var x = 1;
  g(&x, x);
}
