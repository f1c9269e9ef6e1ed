// expect: wgsl/no-overload 3
fn f(a: vec2f) -> vec2<bool> {
  return a == 1.0;
}
