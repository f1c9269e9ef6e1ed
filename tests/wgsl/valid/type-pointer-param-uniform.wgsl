@group(0) @binding(0) var<uniform> b: vec4f;
fn g(p: ptr<uniform, vec4f>) -> f32 {
  return p.x;
}
fn f() {
  let x = g(&b);
}
