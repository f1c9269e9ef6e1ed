@compute @workgroup_size(64) fn main(@builtin(num_workgroups) w: vec3u) {
  if w.x == 1 {
    workgroupBarrier();
  }
}
