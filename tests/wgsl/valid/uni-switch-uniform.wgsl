@compute @workgroup_size(64) fn main(@builtin(workgroup_id) w: vec3u) {
  switch w.x {
    case 0 {
      workgroupBarrier();
    }
    default {}
  }
}
