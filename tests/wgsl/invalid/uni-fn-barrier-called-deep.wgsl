// expect: wgsl/non-uniform 3
fn c() {
  workgroupBarrier();
}
fn b() {
  c();
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  if i == 0 {
    b();
  }
}
