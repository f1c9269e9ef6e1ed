// expect: wgsl/no-overload 4
fn f() {
  var a = 1f;
  a *= vec2f(1);
}
