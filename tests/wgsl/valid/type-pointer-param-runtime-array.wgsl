@group(0) @binding(0) var<storage, read_write> b: array<i32>;
fn g(p: ptr<storage, array<i32>, read_write>) -> u32 {
  return arrayLength(p);
}
fn f() {
  let n = g(&b);
}
