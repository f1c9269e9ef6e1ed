// expect: wgsl/no-overload 4
fn f() {
  var a = 1;
  a += 1.5;
}
