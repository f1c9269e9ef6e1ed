// expect: wgsl/syntax 3
fn f(a: bool, b: vec2<bool>) -> vec2<bool> {
  let c = a & a | a;
  return b & b;
}
