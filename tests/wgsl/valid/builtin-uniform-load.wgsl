var<workgroup> a: u32;
@compute @workgroup_size(4) fn f() {
  let x = workgroupUniformLoad(&a);
}
