@group(0) @binding(0) var<storage, read_write> out: array<vec4f>;
override seed: u32 = 7u;

fn pcg(v: u32) -> u32 {
  let state = v * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

fn unit(h: u32) -> f32 {
  return f32(h >> 8u) * (1.0 / 16777216.0);
}

fn box_muller(u: vec2f) -> vec2f {
  const TAU = 6.283185307179586;
  let r = sqrt(-2.0 * log(max(u.x, 1e-7)));
  return r * vec2f(cos(TAU * u.y), sin(TAU * u.y));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u, @builtin(num_workgroups) n: vec3u) {
  let i = g.x + g.y * n.x * 64u;
  if i < arrayLength(&out) {
    var h = pcg(i ^ seed);
    var v: vec4f;
    for (var c = 0; c < 4; c += 2) {
      let a = unit(h);
      h = pcg(h);
      let b = unit(h);
      h = pcg(h);
      let z = box_muller(vec2(a, b));
      v[c] = z.x;
      v[c + 1] = z.y;
    }
    out[i] = v;
  }
}
