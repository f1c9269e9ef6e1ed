// expect: wgsl/const-error 3
fn f(a: f32) -> f32 {
  return ldexp(a, 129);
}
