// expect: wgsl/not-constant 4
enable subgroups;
@compute @workgroup_size(64) fn f(@builtin(workgroup_id) w: vec3u) {
  let a = subgroupBroadcast(1u, w.x);
}
