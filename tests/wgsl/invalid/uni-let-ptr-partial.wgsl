// expect: wgsl/non-uniform 7
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = array(i, i);
  let p = &a[0];
  *p = 1;
  if a[0] == 0 {
    workgroupBarrier();
  }
}
