fn f(a: f32, b: vec2f) -> vec2f {
  return a % b;
}
