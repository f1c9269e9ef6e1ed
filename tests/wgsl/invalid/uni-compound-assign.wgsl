// expect: wgsl/non-uniform 6
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = 0u;
  a += i;
  if a == 0 {
    workgroupBarrier();
  }
}
