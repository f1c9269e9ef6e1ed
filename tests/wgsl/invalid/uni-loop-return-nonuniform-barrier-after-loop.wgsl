// expect: wgsl/non-uniform 13
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var k = 0u;
  loop {
    k++;
    if i < k {
      return;
    }
    if k > 100 {
      break;
    }
  }
  workgroupBarrier();
}
