// expect: wgsl/no-overload 3
fn f(a: i32) {
  let v = vec2f(a, a);
}
