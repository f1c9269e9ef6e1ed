// expect: wgsl/const-error 4
fn f() {
  var a = 1;
  a /= 0;
}
