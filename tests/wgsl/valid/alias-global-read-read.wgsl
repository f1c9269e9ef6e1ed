var<private> x: i32;
fn g(a: ptr<private, i32>) -> i32 {
  return *a + x;
}
fn f() {
  let y = g(&x);
}
