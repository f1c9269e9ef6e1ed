fn f(a: f32) -> f32 {
  return clamp(1, a, 2);
}
