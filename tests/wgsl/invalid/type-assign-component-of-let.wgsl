// expect: wgsl/not-assignable 4
fn f() {
  let a = vec3f();
  a.x = 1;
}
