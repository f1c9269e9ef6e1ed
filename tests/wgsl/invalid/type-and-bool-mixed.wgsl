// expect: wgsl/no-overload 3
fn f(a: bool, b: vec2<bool>) -> vec2<bool> {
  return a & b;
}
