// expect: wgsl/non-uniform 12
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var k = 0u;
  loop {
    if k > 3 {
      break;
    }
    if i == 0 {
      continue;
    }
    continuing {
      workgroupBarrier();
      k++;
    }
  }
}
