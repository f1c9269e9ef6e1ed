override N = 4;
alias A = array<i32, N>;
var<workgroup> a: A;
fn g(p: ptr<workgroup, A>) {
  p[0] = 1;
}
fn f() {
  g(&a);
}
