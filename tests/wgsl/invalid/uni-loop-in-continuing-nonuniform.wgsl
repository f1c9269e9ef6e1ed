// expect: wgsl/non-uniform 9
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var k = 0u;
  loop {
    if k > i {
      break;
    }
    continuing {
      workgroupBarrier();
      k++;
    }
  }
}
