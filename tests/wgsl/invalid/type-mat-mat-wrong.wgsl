// expect: wgsl/no-overload 3
fn f(a: mat3x2<f32>, b: mat2x2<f32>) -> mat2x2<f32> {
  return a * b;
}
