// expect: wgsl/non-uniform 6
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var n = i;
  while n > 0 {
    n--;
    workgroupBarrier();
  }
}
