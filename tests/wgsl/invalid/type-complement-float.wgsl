// expect: wgsl/no-overload 3
fn f(a: f32) -> f32 {
  return ~a;
}
