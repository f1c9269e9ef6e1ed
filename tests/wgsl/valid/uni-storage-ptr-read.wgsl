@group(0) @binding(0) var<storage> n: array<u32>;
fn g(p: ptr<storage, array<u32>>) -> u32 {
  return p[0];
}
@compute @workgroup_size(64) fn main() {
  if g(&n) == 0 {
    workgroupBarrier();
  }
}
