@group(0) @binding(0) var<storage, read_write> n: array<u32>;
@compute @workgroup_size(64) fn main() {
  if arrayLength(&n) == 0 {
    workgroupBarrier();
  }
}
