// expect: wgsl/non-uniform 5
var<private> p: i32;
fn b() {
  if p == 0 {
    workgroupBarrier();
  }
}
@compute @workgroup_size(64) fn main() {}
