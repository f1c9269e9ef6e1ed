// expect: wgsl/type-mismatch 4
fn f() {
  var a = 1.0;
  a++;
}
