fn b(p: ptr<function, vec2u>) {
  *p = vec2u(1);
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = vec2u(i);
  b(&a);
  if a.x == 0 {
    workgroupBarrier();
  }
}
