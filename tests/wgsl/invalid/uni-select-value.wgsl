// expect: wgsl/non-uniform 4
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  if select(1, 2, i == 0) == 1 {
    workgroupBarrier();
  }
}
