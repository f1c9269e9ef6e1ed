// expect: wgsl/no-member 3
fn f(a: vec4f) -> vec2f {
  return a.xg;
}
