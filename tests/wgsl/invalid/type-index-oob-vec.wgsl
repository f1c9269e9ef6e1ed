// expect: wgsl/index-out-of-range 3
fn f(a: vec3f) -> f32 {
  return a[3];
}
