override N = 4;
var<workgroup> a: array<i32, N>;
fn g(p: ptr<workgroup, array<i32, N>>) {
  p[0] = 1;
}
fn f() {
  g(&a);
}
