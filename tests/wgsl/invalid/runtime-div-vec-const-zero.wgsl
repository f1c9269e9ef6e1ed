// expect: wgsl/const-error 3
fn f(a: vec2i) -> vec2i {
  return a / vec2i(1, 0);
}
