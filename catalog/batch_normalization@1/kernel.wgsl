// One element a lane, with the statistics of its channel.
alias T = f32;
struct Params { inner: u32, channels: u32, has_scale: u32, has_bias: u32, epsilon: f32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> mean: array<T>;
@group(0) @binding(2) var<storage, read> variance: array<T>;
@group(0) @binding(3) var<storage, read> scale: array<T>;
@group(0) @binding(4) var<storage, read> bias: array<T>;
@group(0) @binding(5) var<storage, read_write> y: array<T>;
@group(0) @binding(6) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let c = (i / p.inner) % p.channels;
  var v = (f32(x[i]) - f32(mean[c])) / sqrt(f32(variance[c]) + f32(p.epsilon));
  if (p.has_scale != 0u) { v *= f32(scale[c]); }
  if (p.has_bias != 0u) { v += f32(bias[c]); }
  y[i] = T(v);
}
