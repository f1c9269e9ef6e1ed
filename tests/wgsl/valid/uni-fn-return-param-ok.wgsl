fn b(x: u32) -> u32 {
  return x + 1;
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  if b(2) == 0 {
    workgroupBarrier();
  }
}
