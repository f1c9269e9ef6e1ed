// expect: wgsl/non-uniform 4
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
  if g.x < 4 {
    storageBarrier();
  }
}
