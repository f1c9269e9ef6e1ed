@compute @workgroup_size(64) fn main(@builtin(workgroup_id) g: vec3u) {
  if g.x > 10 {
    return;
  }
  workgroupBarrier();
}
