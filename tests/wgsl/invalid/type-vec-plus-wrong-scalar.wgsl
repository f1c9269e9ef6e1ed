// expect: wgsl/no-overload 3
fn f(a: vec3f, b: i32) -> vec3f {
  return a + b;
}
