// expect: wgsl/non-uniform 6
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = vec2u(i);
  a.x = 1;
  if a.x == 0 {
    workgroupBarrier();
  }
}
