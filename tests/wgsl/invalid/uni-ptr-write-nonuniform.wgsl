// expect: wgsl/non-uniform 10
var<private> q: u32;
fn b(p: ptr<function, u32>) {
  *p = q;
}
@compute @workgroup_size(64) fn main() {
  var a = 0u;
  b(&a);
  if a == 0 {
    workgroupBarrier();
  }
}
