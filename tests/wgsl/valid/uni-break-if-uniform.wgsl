@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var n = 0u;
  loop {
    workgroupBarrier();
    n++;
    continuing {
      break if n > 4;
    }
  }
}
