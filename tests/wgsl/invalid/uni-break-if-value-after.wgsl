// expect: wgsl/non-uniform 11
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var n = 0u;
  loop {
    n++;
    continuing {
      break if n > i;
    }
  }
  if n == 4 {
    workgroupBarrier();
  }
}
