fn f(a: f32) -> f32 {
  return smoothstep(2.0, 1.0, a);
}
