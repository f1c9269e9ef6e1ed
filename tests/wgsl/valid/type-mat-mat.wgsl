fn f(a: mat3x2<f32>, b: mat4x3<f32>) -> mat4x2<f32> {
  return a * b;
}
