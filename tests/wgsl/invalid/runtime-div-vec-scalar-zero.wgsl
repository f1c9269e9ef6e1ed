// expect: wgsl/const-error 3
fn f(a: vec2i) -> vec2i {
  return a / 0;
}
