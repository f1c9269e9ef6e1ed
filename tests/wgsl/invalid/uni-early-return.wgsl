// expect: wgsl/non-uniform 6
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
  if g.x > 10 {
    return;
  }
  workgroupBarrier();
}
