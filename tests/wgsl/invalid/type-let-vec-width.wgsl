// expect: wgsl/type-mismatch 3
fn f() {
  let a: vec3f = vec2f();
}
