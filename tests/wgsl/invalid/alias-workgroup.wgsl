// expect: wgsl/aliased-pointers 7
var<workgroup> x: array<i32, 4>;
fn g(a: ptr<workgroup, array<i32, 4>>) {
  a[0] = x[1];
}
fn f() {
  g(&x);
}
