// expect: wgsl/not-enabled 3
fn f() {
  let a = vec2h();
}
