fn b(x: u32) {
  if x == 0 {
    workgroupBarrier();
  }
}
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) w: vec3u) {
  b(w.x);
}
