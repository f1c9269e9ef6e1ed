// expect: wgsl/non-uniform 7
struct In {
  @builtin(workgroup_id) w: vec3u, @builtin(local_invocation_index) i: u32
}
@compute @workgroup_size(64) fn main(in: In) {
  if in.w.x == 0 {
    workgroupBarrier();
  }
}
