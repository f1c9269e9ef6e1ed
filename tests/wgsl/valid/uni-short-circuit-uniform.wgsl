fn b() -> bool {
  workgroupBarrier();
  return true;
}
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) w: vec3u) {
  let x = w.x == 0 && b();
}
