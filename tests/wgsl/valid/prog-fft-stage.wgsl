struct Stage { n: u32, half: u32, sign: f32 }
@group(0) @binding(0) var<uniform> stage: Stage;
@group(0) @binding(1) var<storage, read_write> z: array<vec2f>;

fn cmul(a: vec2f, b: vec2f) -> vec2f {
  return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
  let i = g.x;
  if i >= stage.n / 2u {
    return;
  }
  let block = i / stage.half;
  let k = i % stage.half;
  let top = block * stage.half * 2u + k;
  let angle = stage.sign * radians(180.0) * f32(k) / f32(stage.half);
  let w = vec2f(cos(angle), sin(angle));
  let a = z[top];
  let b = cmul(w, z[top + stage.half]);
  z[top] = a + b;
  z[top + stage.half] = a - b;
}
