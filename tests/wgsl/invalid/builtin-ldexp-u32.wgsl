// expect: wgsl/no-overload 3
fn f(a: f32, b: u32) -> f32 {
  return ldexp(a, b);
}
