struct In {
  @builtin(workgroup_id) w: vec3u, @builtin(num_workgroups) n: vec3u
}
@compute @workgroup_size(64) fn main(in: In) {
  if in.w.x == 0 {
    workgroupBarrier();
  }
}
