// expect: wgsl/non-uniform 5
var<workgroup> n: atomic<u32>;
@compute @workgroup_size(64) fn main() {
  if atomicLoad(&n) == 0 {
    workgroupBarrier();
  }
}
