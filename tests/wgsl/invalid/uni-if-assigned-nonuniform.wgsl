// expect: wgsl/non-uniform 8
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = 0;
  if i == 0 {
    a = 1;
  }
  if a == 1 {
    workgroupBarrier();
  }
}
