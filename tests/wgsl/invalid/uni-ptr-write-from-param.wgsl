// expect: wgsl/non-uniform 9
fn b(p: ptr<function, u32>, x: u32) {
  *p = x;
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = 0u;
  b(&a, i);
  if a == 0 {
    workgroupBarrier();
  }
}
