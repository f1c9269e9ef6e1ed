struct S {
  max: i32, f32: f32, vec2: vec2f
}
fn f(s: S) -> f32 {
  return s.f32;
}
