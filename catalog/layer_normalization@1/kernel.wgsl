// One workgroup a part: mean and variance of each part, then every element of it.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, length: u32, has_scale: u32, has_bias: u32, epsilon: f32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

var<workgroup> part: array<f32, 64>;

fn kept_at(index: u32) -> u32 {
  var rest = index;
  var at = p.kept.offset;
  for (var r = p.kept.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.kept.dims[d / 4u][d % 4u];
    at += (rest % n) * p.kept.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn reduced_at(index: u32) -> u32 {
  var rest = index;
  var at = 0u;
  for (var r = p.reduced.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.reduced.dims[d / 4u][d % 4u];
    at += (rest % n) * p.reduced.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

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
  let base = kept_at(min(row, p.count - 1u));
  var sum = f32(0);
  for (var j = lane; j < p.length; j += 64u) { sum += f32(x[base + reduced_at(j)]); }
  sum = whole(sum, lane);
  let mean = sum / f32(p.length);
  sum = f32(0);
  for (var j = lane; j < p.length; j += 64u) {
    let d = f32(x[base + reduced_at(j)]) - mean;
    sum += d * d;
  }
  sum = whole(sum, lane);
  let root = sqrt(sum / f32(p.length) + f32(p.epsilon));
  if (row >= p.count) { return; }
  for (var j = lane; j < p.length; j += 64u) {
    let at = base + reduced_at(j);
    var v = (f32(x[at]) - mean) / root;
    if (p.has_scale != 0u) { v *= f32(scale[j]); }
    if (p.has_bias != 0u) { v += f32(bias[j]); }
    y[at] = T(v);
  }
}
