@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  for (var a = 0; a < 3; a++) {
    for (var b = a; b < 5; b++) {
      if b == 2 {
        continue;
      }
      workgroupBarrier();
    }
  }
}
