// expect: wgsl/not-constant 3
enable subgroups;
const a = subgroupAdd(1u);
