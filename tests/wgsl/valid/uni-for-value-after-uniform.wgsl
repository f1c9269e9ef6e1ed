@compute @workgroup_size(64) fn main(@builtin(workgroup_id) w: vec3u) {
  var n = 0u;
  for (; n < w.x; n++) {}
  if n == 4 {
    workgroupBarrier();
  }
}
