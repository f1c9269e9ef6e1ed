// Mean and variance of every group of channels of a sample, then its elements: one to 32 groups a workgroup.
alias T = f32;
struct Params { length: u32, inner: u32, groups: u32, has_scale: u32, has_bias: u32, epsilon: f32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

override LANES: u32 = 256; // lanes a row: a power of 2, at most 256
var<workgroup> part: array<f32, 256>;

// The sum over the lanes of a row, in each of them.
fn whole(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    if (lane % LANES < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  let all = part[lane - lane % LANES];
  workgroupBarrier();
  return all;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let mine = (group.y * groups.x + group.x) * (256u / LANES) + lane / LANES;
  let row = min(mine, p.count - 1u);
  let first = lane % LANES;
  let base = row * p.length;
  var sum = 0.0;
  for (var j = first; j < p.length; j += LANES) { sum += f32(x[base + j]); }
  let mean = whole(sum, lane) / f32(p.length);
  sum = 0.0;
  for (var j = first; j < p.length; j += LANES) {
    let d = f32(x[base + j]) - mean;
    sum += d * d;
  }
  let root = sqrt(whole(sum, lane) / f32(p.length) + p.epsilon);
  if (mine >= p.count) { return; }
  let channel = (row % p.groups) * (p.length / p.inner);
  for (var j = first; j < p.length; j += LANES) {
    var v = (f32(x[base + j]) - mean) / root;
    if (p.has_scale != 0u) { v *= f32(scale[channel + j / p.inner]); }
    if (p.has_bias != 0u) { v += f32(bias[channel + j / p.inner]); }
    y[base + j] = T(v);
  }
}
