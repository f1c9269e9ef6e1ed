fn f(m: mat3x2<f32>, v: vec2f) -> vec3f {
  return v * m;
}
