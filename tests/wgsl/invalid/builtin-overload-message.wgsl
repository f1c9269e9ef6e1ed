// expect: wgsl/no-overload 3
fn f() {
  let a = max(vec2f(), 1u);
}
