fn b() -> bool {
  workgroupBarrier();
  return true;
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  let x = b() && i == 0;
}
