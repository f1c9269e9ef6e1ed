// A spike where the hash of (position, seed) is divisible by `every`; a further bit is its sign.
struct Params { count: u32, seed: u32, every: u32, height: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

fn pcg(v: u32) -> u32 {
  let state = v * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let h = pcg(i ^ pcg(p.seed));
  var spike = 0.0;
  if ((h >> 1u) % p.every == 0u) { spike = select(p.height, -p.height, (h & 1u) == 1u); }
  y[i] = x[i] + spike;
}
