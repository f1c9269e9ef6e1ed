// expect: wgsl/syntax 6
fn g() -> vec2i {
  return vec2i();
}
fn f() {
  g().x;
}
