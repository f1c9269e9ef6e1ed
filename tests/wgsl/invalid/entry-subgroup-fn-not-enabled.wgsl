// expect: wgsl/not-enabled 3
@compute @workgroup_size(64) fn main() {
  let a = subgroupAdd(1u);
}
