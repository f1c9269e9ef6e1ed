// expect: wgsl/argument-count 3
@compute @workgroup_size(4) fn f() {
  workgroupBarrier(1);
}
