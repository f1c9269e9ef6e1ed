@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var n = 0u;
  for (var k = 0u; k < 4; k++) {
    n = i;
    n = k;
    if n == 0 {
      workgroupBarrier();
    }
  }
}
