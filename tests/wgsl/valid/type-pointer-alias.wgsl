alias P = ptr<function, i32>;
fn g(p: P) {
  *p = 1;
}
fn f() {
  var a = 1;
  g(&a);
}
