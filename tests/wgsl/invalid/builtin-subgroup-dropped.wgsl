// expect: wgsl/must-use 4
enable subgroups;
@compute @workgroup_size(64) fn f() {
  subgroupAdd(1u);
}
