@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
  var a = 0u;
  if w.x == 0 {
    a = i;
    return;
  }
  if a == 0 {
    workgroupBarrier();
  }
}
