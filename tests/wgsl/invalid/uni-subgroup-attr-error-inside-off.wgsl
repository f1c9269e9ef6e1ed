// expect: wgsl/non-uniform 6
enable subgroups;
diagnostic(off, subgroup_uniformity);
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  @diagnostic(error, subgroup_uniformity) if i == 0 {
    let a = subgroupAdd(1u);
  }
}
