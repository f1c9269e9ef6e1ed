@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  for (var a = 0u; a < 3; a++) {
    for (var b = 0u; b < 5; b++) {
      if b == i {
        break;
      }
    }
    workgroupBarrier();
  }
}
