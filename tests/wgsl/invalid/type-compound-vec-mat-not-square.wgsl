// expect: wgsl/no-overload 4
fn f() {
  var v = vec2f();
  v *= mat3x2f();
}
