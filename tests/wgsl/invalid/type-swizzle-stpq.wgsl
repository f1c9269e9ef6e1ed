// expect: wgsl/no-member 3
fn f(a: vec4f) -> f32 {
  return a.s;
}
