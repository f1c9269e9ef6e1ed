var<private> a: array<i32, 2>;
fn g(p: ptr<private, i32>) {
  *p = 1;
}
fn f() {
  g(&a[1]);
}
