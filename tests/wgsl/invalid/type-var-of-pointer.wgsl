// expect: wgsl/type-not-allowed 4
fn f() {
  var a = 1;
  var p = &a;
}
