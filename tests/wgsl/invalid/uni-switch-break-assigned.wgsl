// expect: wgsl/non-uniform 15
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
  var a = 0u;
  switch w.x {
    case 0 {
      if w.y == 0 {
        a = i;
        break;
      }
      a = 0;
    }
    default {}
  }
  if a == 1 {
    workgroupBarrier();
  }
}
