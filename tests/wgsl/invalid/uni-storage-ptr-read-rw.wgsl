// expect: wgsl/non-uniform 8
@group(0) @binding(0) var<storage, read_write> n: array<u32>;
fn g(p: ptr<storage, array<u32>, read_write>) -> u32 {
  return p[0];
}
@compute @workgroup_size(64) fn main() {
  if g(&n) == 0 {
    workgroupBarrier();
  }
}
