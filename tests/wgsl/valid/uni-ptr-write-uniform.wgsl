fn b(p: ptr<function, u32>) {
  *p = 1;
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = i;
  b(&a);
  if a == 0 {
    workgroupBarrier();
  }
}
