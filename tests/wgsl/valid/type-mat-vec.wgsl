fn f(m: mat3x2<f32>, v: vec3f) -> vec2f {
  return m * v;
}
