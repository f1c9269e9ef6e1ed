// expect: wgsl/not-assignable 4
fn f() {
  var a = vec3f();
  a.xy = vec2f();
}
