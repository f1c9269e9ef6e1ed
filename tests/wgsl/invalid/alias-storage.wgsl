// expect: wgsl/aliased-pointers 7
@group(0) @binding(0) var<storage, read_write> x: array<i32>;
fn g(a: ptr<storage, array<i32>, read_write>) {
  a[0] = x[1];
}
fn f() {
  g(&x);
}
