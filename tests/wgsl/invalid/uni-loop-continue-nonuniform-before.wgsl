// expect: wgsl/non-uniform 4
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  for (var k = 0u; k < 4; k++) {
    workgroupBarrier();
    if i == k {
      continue;
    }
  }
}
