fn f(a: f32) -> f32 {
  return ldexp(a, 128);
}
