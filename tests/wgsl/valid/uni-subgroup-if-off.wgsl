enable subgroups;
diagnostic(off, subgroup_uniformity);
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  if i == 0 {
    let a = subgroupAdd(1u);
  }
}
