// expect: wgsl/non-uniform 4
var<workgroup> n: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  let x = workgroupUniformLoad(&n[i]);
}
