// expect: wgsl/non-uniform 5
enable subgroups;
@compute @workgroup_size(64) fn main() {
  if subgroupAdd(1u) == 0 {
    workgroupBarrier();
  }
}
