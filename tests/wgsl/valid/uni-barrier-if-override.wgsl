override n = 1;
@compute @workgroup_size(64) fn main() {
  if n == 0 {
    workgroupBarrier();
  }
}
