// expect: wgsl/must-use 3
fn f() {
  vec2f();
}
