// expect: wgsl/non-uniform 7
enable subgroups;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
  if g.x > 100 {
    return;
  }
  let a = subgroupAdd(1u);
}
