// One workgroup a part: mean and variance of each part, then every element of it.
alias T = f32;
struct Params { length: u32, channels: u32, has_scale: u32, has_bias: u32, epsilon: f32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

var<workgroup> part: array<f32, 64>;

// The sum over all lanes, in every lane.
fn whole(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  let all = part[0];
  workgroupBarrier();
  return all;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = group.y * groups.x + group.x;
  let base = min(row, p.count - 1u) * p.length;
  var sum = f32(0);
  for (var j = lane; j < p.length; j += 64u) { sum += f32(x[base + j]); }
  sum = whole(sum, lane);
  let mean = sum / f32(p.length);
  sum = f32(0);
  for (var j = lane; j < p.length; j += 64u) {
    let d = f32(x[base + j]) - mean;
    sum += d * d;
  }
  sum = whole(sum, lane);
  let root = sqrt(sum / f32(p.length) + f32(p.epsilon));
  if (row >= p.count) { return; }
  for (var j = lane; j < p.length; j += 64u) {
    let at = base + j;
    var v = (f32(x[at]) - mean) / root;
    if (p.has_scale != 0u) { v *= f32(scale[row % p.channels]); }
    if (p.has_bias != 0u) { v += f32(bias[row % p.channels]); }
    y[at] = T(v);
  }
}
