fn b(p: ptr<function, u32>, x: u32) {
  *p = x;
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = i;
  b(&a, 2);
  if a == 0 {
    workgroupBarrier();
  }
}
