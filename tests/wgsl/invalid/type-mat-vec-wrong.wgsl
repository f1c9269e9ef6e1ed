// expect: wgsl/no-overload 3
fn f(m: mat3x2<f32>, v: vec2f) -> vec2f {
  return m * v;
}
