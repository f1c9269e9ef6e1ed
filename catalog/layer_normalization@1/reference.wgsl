// One lane a part: mean and variance of each part, then every element of it.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, length: u32, has_scale: u32, has_bias: u32, epsilon: f32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let row = id.y * (groups.x * 64u) + id.x;
  if (row >= p.count) { return; }
  let base = kept_at(row);
  var sum = T(0);
  for (var j = 0u; j < p.length; j++) { sum += T(x[base + reduced_at(j)]); }
  let mean = sum / T(p.length);
  sum = T(0);
  for (var j = 0u; j < p.length; j++) {
    let d = T(x[base + reduced_at(j)]) - mean;
    sum += d * d;
  }
  let root = sqrt(sum / T(p.length) + T(p.epsilon));
  for (var j = 0u; j < p.length; j++) {
    let at = base + reduced_at(j);
    var v = (T(x[at]) - mean) / root;
    if (p.has_scale != 0u) { v *= T(scale[j]); }
    if (p.has_bias != 0u) { v += T(bias[j]); }
    y[at] = T(v);
  }
}
