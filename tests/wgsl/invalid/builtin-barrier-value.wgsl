// expect: wgsl/type-mismatch 3
@compute @workgroup_size(4) fn f() {
  let a = workgroupBarrier();
}
