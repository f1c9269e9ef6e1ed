// expect: wgsl/non-uniform 6
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  if i == 0 {
    var x: u32;
    if x == 0 {
      workgroupBarrier();
    }
  }
}
