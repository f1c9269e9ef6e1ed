// expect: wgsl/no-overload 3
fn f(a: f32) -> f32 {
  return clamp(a, 1i, 2i);
}
