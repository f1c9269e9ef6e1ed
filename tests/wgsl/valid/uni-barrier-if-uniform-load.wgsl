var<workgroup> n: u32;
@compute @workgroup_size(64) fn main() {
  if workgroupUniformLoad(&n) == 0 {
    workgroupBarrier();
  }
}
