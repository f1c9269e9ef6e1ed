@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  let a = i;
  let b = 1u;
  if b == 0 {
    workgroupBarrier();
  }
}
