// expect: wgsl/non-uniform 5
@group(0) @binding(0) var<storage, read_write> n: u32;
@compute @workgroup_size(64) fn main() {
  if n == 0 {
    workgroupBarrier();
  }
}
