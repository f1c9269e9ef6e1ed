fn g(p: ptr<function, i32>) {
  *p = 2;
}
fn f() {
  var a = 1;
  g(&a);
}
