// expect: wgsl/non-uniform 5
var<workgroup> n: u32;
@compute @workgroup_size(64) fn main() {
  if n == 0 {
    workgroupBarrier();
  }
}
