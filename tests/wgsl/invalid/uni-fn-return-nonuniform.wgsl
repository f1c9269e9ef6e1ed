// expect: wgsl/non-uniform 8
var<private> p: u32;
fn b() -> u32 {
  return p;
}
@compute @workgroup_size(64) fn main() {
  if b() == 0 {
    workgroupBarrier();
  }
}
