// expect: wgsl/const-error 4
enable subgroups;
@compute @workgroup_size(64) fn f() {
  let a = subgroupBroadcast(1u, 128);
}
