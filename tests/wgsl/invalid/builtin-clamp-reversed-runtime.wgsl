// expect: wgsl/const-error 3
fn f(a: f32) -> f32 {
  return clamp(a, 3, 2);
}
