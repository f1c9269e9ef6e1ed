// expect: wgsl/address-space 3
fn f() {
  var<workgroup> a: i32;
}
