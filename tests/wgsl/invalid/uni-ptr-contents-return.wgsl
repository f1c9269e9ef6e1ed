// expect: wgsl/non-uniform 8
fn b(p: ptr<function, u32>) -> u32 {
  return *p;
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = i;
  if b(&a) == 0 {
    workgroupBarrier();
  }
}
