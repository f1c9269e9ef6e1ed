@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a = 0;
  switch i {
    case 0 {
      a = 1;
    }
    default {
      a = 2;
    }
  }
  workgroupBarrier();
}
