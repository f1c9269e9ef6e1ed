// expect: wgsl/const-error 4
enable subgroups;
@compute @workgroup_size(64) fn f() {
  let a = subgroupShuffle(1u, 128);
  let b = subgroupShuffleXor(1u, 200u);
}
