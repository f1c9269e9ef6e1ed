@group(0) @binding(0) var<storage, read_write> b: array<i32, 4>;
fn g(p: ptr<storage, array<i32, 4>, read_write>) {
  p[1] = 2;
}
fn f() {
  g(&b);
}
