@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
  var a = 0;
  if g.x > 10 {
    a = 1;
  }
  workgroupBarrier();
}
