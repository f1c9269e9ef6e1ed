fn g(a: ptr<function, i32>, b: ptr<function, i32>) {
  *a = *b;
}
fn f() {
  var x = 1;
  var y = 2;
  g(&x, &y);
}
