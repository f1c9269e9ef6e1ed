// expect: wgsl/no-member 3
fn f(a: vec4f) -> vec4f {
  return a.xyzwx;
}
