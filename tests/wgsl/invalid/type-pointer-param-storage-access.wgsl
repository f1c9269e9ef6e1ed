// expect: wgsl/type-mismatch 5
@group(0) @binding(0) var<storage, read_write> b: array<i32, 4>;
fn g(p: ptr<storage, array<i32, 4>>) {}
fn f() {
  g(&b);
}
