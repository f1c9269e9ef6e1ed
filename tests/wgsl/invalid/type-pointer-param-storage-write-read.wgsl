// expect: wgsl/access 4
@group(0) @binding(0) var<storage> b: array<i32, 4>;
fn g(p: ptr<storage, array<i32, 4>>) {
  p[0] = 1;
}
fn f() {
  g(&b);
}
