@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  let a = select(1, 2, i == 0);
  workgroupBarrier();
}
