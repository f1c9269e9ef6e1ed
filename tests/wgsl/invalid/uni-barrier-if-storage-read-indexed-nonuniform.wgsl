// expect: wgsl/non-uniform 5
@group(0) @binding(0) var<storage> n: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  if n[i] == 0 {
    workgroupBarrier();
  }
}
