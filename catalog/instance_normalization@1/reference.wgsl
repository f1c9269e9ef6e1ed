// One lane a part: mean and variance of each part, then every element of it.
alias T = f32;
struct Params { length: u32, channels: u32, has_scale: u32, has_bias: u32, epsilon: f32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let row = id.y * (groups.x * 64u) + id.x;
  if (row >= p.count) { return; }
  let base = row * p.length;
  var sum = T(0);
  for (var j = 0u; j < p.length; j++) { sum += T(x[base + j]); }
  let mean = sum / T(p.length);
  sum = T(0);
  for (var j = 0u; j < p.length; j++) {
    let d = T(x[base + j]) - mean;
    sum += d * d;
  }
  let root = sqrt(sum / T(p.length) + T(p.epsilon));
  for (var j = 0u; j < p.length; j++) {
    let at = base + j;
    var v = (T(x[at]) - mean) / root;
    if (p.has_scale != 0u) { v *= T(scale[row % p.channels]); }
    if (p.has_bias != 0u) { v += T(bias[row % p.channels]); }
    y[at] = T(v);
  }
}
