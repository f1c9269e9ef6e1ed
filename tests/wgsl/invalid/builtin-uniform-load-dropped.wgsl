// expect: wgsl/must-use 4
var<workgroup> a: u32;
@compute @workgroup_size(4) fn f() {
  workgroupUniformLoad(&a);
}
