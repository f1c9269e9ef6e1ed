// expect: wgsl/address-space 3
fn f() {
  var<private> a: i32;
}
