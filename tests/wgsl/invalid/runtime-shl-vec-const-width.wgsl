// expect: wgsl/const-error 3
fn f(a: vec2u) -> vec2u {
  return a << vec2u(1, 32);
}
