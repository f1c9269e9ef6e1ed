// expect: wgsl/no-overload 4
enable subgroups;
@compute @workgroup_size(64) fn f() {
  let a = subgroupShuffleXor(1u, 1i);
}
