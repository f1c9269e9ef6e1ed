// expect: wgsl/non-uniform 6
var<private> p: u32;
@compute @workgroup_size(64) fn main() {
  p = 1;
  if p == 0 {
    workgroupBarrier();
  }
}
