// expect: wgsl/non-uniform 11
fn b(p: ptr<function, u32>, x: u32) {
  if x == 0 {
    *p = 1;
  }
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = 0u;
  b(&a, i);
  if a == 0 {
    workgroupBarrier();
  }
}
