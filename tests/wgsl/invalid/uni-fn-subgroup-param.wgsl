// expect: wgsl/non-uniform 5
enable subgroups;
fn h(x: u32) -> u32 {
  if x == 0 {
    return subgroupAdd(1u);
  }
  return 0;
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  let a = h(i);
}
