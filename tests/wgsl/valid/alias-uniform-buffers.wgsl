@group(0) @binding(0) var<uniform> u: vec4f;
fn g(a: ptr<uniform, vec4f>, b: ptr<uniform, vec4f>) -> f32 {
  return a.x + b.y;
}
fn f() {
  let y = g(&u, &u);
}
