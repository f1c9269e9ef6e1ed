// expect: wgsl/const-error 4
fn f() {
  var a = 1u;
  a %= 0u;
}
