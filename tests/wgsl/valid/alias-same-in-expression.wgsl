fn g(a: ptr<function, i32>) -> i32 {
  *a = 2;
  return 1;
}
fn f() {
  var x = 1;
  let y = g(&x) + x + g(&x);
}
