// expect: wgsl/type-mismatch 4
fn f() {
  var a: i32;
  a = 1u;
}
