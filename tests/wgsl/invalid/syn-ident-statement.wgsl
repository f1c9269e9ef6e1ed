// expect: wgsl/syntax 4
fn f() {
  var a = 1;
  a;
}
