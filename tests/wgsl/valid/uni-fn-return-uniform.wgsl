fn b() -> u32 {
  return 3;
}
@compute @workgroup_size(64) fn main() {
  if b() == 0 {
    workgroupBarrier();
  }
}
