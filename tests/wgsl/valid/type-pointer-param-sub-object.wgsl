fn g(p: ptr<function, i32>) {
  *p = 1;
}
fn f() {
  var a = array(1, 2);
  g(&a[0]);
}
