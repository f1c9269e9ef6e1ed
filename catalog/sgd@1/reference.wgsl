// One step: every invocation updates one element in place.
alias G = f32;
struct Params { count: u32, has_rate: u32, has_factor: u32, learning_rate: f32, momentum: f32, weight_decay: f32, nesterov: u32 }
@group(0) @binding(0) var<storage, read_write> weight: array<f32>;
@group(0) @binding(1) var<storage, read> gradient: array<G>;
@group(0) @binding(2) var<storage, read_write> velocity: array<f32>;
@group(0) @binding(3) var<storage, read> rate: array<f32>;
@group(0) @binding(4) var<storage, read> factor: array<f32>;
@group(0) @binding(5) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var lr = p.learning_rate;
  if (p.has_rate != 0u) { lr = rate[0]; }
  var f = 1.0;
  if (p.has_factor != 0u) { f = factor[0]; }
  if (!(f > 0.0)) { return; }
  let w = weight[i];
  let g = f * f32(gradient[i]) + p.weight_decay * w;
  let u = p.momentum * velocity[i] + g;
  velocity[i] = u;
  weight[i] = w - lr * select(u, g + p.momentum * u, p.nesterov == 1u);
}
