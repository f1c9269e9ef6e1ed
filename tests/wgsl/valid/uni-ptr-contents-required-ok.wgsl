fn b(p: ptr<function, u32>) {
  if *p == 0 {
    workgroupBarrier();
  }
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = 1u;
  b(&a);
}
