fn f(a: vec3f, i: u32) -> f32 {
  return a[i];
}
