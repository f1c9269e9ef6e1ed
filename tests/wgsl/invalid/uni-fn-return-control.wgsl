// expect: wgsl/non-uniform 10
fn b(x: u32) -> u32 {
  if x == 0 {
    return 1;
  }
  return 2;
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  if b(i) == 0 {
    workgroupBarrier();
  }
}
