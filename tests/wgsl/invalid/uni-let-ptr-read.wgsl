// expect: wgsl/non-uniform 6
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = i;
  let p = &a;
  if *p == 0 {
    workgroupBarrier();
  }
}
