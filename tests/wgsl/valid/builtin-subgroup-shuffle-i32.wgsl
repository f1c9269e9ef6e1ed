enable subgroups;
@compute @workgroup_size(64) fn f() {
  let a = subgroupShuffle(1u, 1i);
}
