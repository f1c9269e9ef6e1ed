// expect: wgsl/aliased-pointers 8
var<workgroup> x: i32;
fn g(a: ptr<workgroup, i32>) {
  let y = workgroupUniformLoad(a);
  x = y;
}
@compute @workgroup_size(1) fn f() {
  g(&x);
}
