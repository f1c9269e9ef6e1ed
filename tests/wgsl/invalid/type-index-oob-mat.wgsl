// expect: wgsl/index-out-of-range 3
fn f(a: mat3x2f) -> vec2f {
  return a[3];
}
