// expect: wgsl/no-overload 4
fn f(b: i32) {
  var a = 1;
  a <<= b;
}
