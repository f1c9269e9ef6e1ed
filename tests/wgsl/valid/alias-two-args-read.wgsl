fn g(a: ptr<function, i32>, b: ptr<function, i32>) -> i32 {
  return *a + *b;
}
fn f() {
  var x = 1;
  let y = g(&x, &x);
}
