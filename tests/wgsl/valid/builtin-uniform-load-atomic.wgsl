var<workgroup> a: atomic<u32>;
@compute @workgroup_size(4) fn f() {
  let x: u32 = workgroupUniformLoad(&a);
}
