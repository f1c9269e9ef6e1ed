// expect: wgsl/not-constant 5
enable subgroups;
override o = 1u;
@compute @workgroup_size(64) fn f() {
  let a = subgroupBroadcast(1u, o);
}
