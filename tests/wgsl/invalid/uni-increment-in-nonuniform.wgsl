// expect: wgsl/non-uniform 8
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = 0u;
  if i == 0 {
    a++;
  }
  if a == 0 {
    workgroupBarrier();
  }
}
