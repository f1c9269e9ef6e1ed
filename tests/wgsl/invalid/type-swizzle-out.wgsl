// expect: wgsl/no-member 3
fn f(a: vec2f) -> f32 {
  return a.z;
}
