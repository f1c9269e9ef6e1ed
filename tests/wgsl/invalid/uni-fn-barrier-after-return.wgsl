// expect: wgsl/non-uniform 6
fn b(x: u32) {
  if x == 0 {
    return;
  }
  workgroupBarrier();
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  b(i);
}
