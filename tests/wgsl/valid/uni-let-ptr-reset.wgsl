@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = i;
  let p = &a;
  *p = 1;
  if a == 0 {
    workgroupBarrier();
  }
}
