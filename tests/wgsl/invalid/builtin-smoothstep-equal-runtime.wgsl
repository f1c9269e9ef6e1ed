// expect: wgsl/const-error 3
fn f(a: f32) -> f32 {
  return smoothstep(1.0, 1.0, a);
}
