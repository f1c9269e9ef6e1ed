// expect: wgsl/non-uniform 6
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = array<u32, 4>();
  a[i] = 1;
  if a[0] == 0 {
    workgroupBarrier();
  }
}
