// expect: wgsl/non-uniform 7
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = 0u;
  let p = &a;
  *p = i;
  if a == 0 {
    workgroupBarrier();
  }
}
