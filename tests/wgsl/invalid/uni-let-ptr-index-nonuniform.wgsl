// expect: wgsl/non-uniform 6
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = array(1, 2);
  let p = &a[i];
  if *p == 0 {
    workgroupBarrier();
  }
}
