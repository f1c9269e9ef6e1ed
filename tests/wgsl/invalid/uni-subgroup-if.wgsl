// expect: wgsl/non-uniform 5
enable subgroups;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  if i == 0 {
    let a = subgroupAdd(1u);
  }
}
