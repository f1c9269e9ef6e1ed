// One step: every invocation updates one element in place.
alias G = f32;
struct Params { count: u32, has_rate: u32, has_factor: u32, learning_rate: f32, beta1: f32, beta2: f32, epsilon: f32, weight_decay: f32 }
@group(0) @binding(0) var<storage, read_write> weight: array<f32>;
@group(0) @binding(1) var<storage, read> gradient: array<G>;
@group(0) @binding(2) var<storage, read_write> m: array<f32>;
@group(0) @binding(3) var<storage, read_write> v: array<f32>;
@group(0) @binding(4) var<storage, read> step: array<i32>;
@group(0) @binding(5) var<storage, read> rate: array<f32>;
@group(0) @binding(6) var<storage, read> factor: array<f32>;
@group(0) @binding(7) var<uniform> p: Params;

// 1 - beta^n without cancellation, by doubling: 1 - b^2k from 1 - b^k.
fn correction(beta: f32, n: u32) -> f32 {
  var c = 0.0;
  for (var bit = 32u - countLeadingZeros(n); bit > 0u; bit--) {
    if (c < 0.5) { c = c * (2.0 - c); } else { c = 1.0 - (1.0 - c) * (1.0 - c); }
    if (((n >> (bit - 1u)) & 1u) == 1u) { c = c * beta + (1.0 - beta); }
  }
  return c;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var lr = p.learning_rate;
  if (p.has_rate != 0u) { lr = rate[0]; }
  var f = 1.0;
  if (p.has_factor != 0u) { f = factor[0]; }
  if (!(f > 0.0)) { return; }
  let n = u32(max(step[0], 1));
  let w = weight[i];
  let g = f * f32(gradient[i]) + p.weight_decay * w;
  let a = p.beta1 * m[i] + (1.0 - p.beta1) * g;
  let b = p.beta2 * v[i] + (1.0 - p.beta2) * g * g;
  m[i] = a;
  v[i] = b;
  let rms = sqrt(b / correction(p.beta2, n));
  weight[i] = w - lr * (a / correction(p.beta1, n)) / (rms + p.epsilon);
}
