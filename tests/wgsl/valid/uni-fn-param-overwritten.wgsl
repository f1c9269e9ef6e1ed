fn b(y: u32) {
  var x = y;
  x = 1;
  if x == 0 {
    workgroupBarrier();
  }
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  b(i);
}
