struct Dims { rows: u32, cols: u32 }
@group(0) @binding(0) var<uniform> d: Dims;
@group(0) @binding(1) var<storage> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
const LANES = 64u;
var<workgroup> part: array<f32, LANES>;

fn reduce_max(i: u32, v: f32) -> f32 {
  part[i] = v;
  workgroupBarrier();
  for (var s = LANES / 2u; s > 0u; s /= 2u) {
    if i < s {
      part[i] = max(part[i], part[i + s]);
    }
    workgroupBarrier();
  }
  return workgroupUniformLoad(&part[0]);
}

fn reduce_sum(i: u32, v: f32) -> f32 {
  part[i] = v;
  workgroupBarrier();
  for (var s = LANES / 2u; s > 0u; s /= 2u) {
    if i < s {
      part[i] += part[i + s];
    }
    workgroupBarrier();
  }
  return workgroupUniformLoad(&part[0]);
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) w: vec3u, @builtin(local_invocation_index) i: u32) {
  let row = w.x;
  if row >= d.rows {
    return;
  }
  let base = row * d.cols;
  var m = -3.4e38;
  for (var c = i; c < d.cols; c += LANES) {
    m = max(m, x[base + c]);
  }
  let top = reduce_max(i, m);
  var s = 0.0;
  for (var c = i; c < d.cols; c += LANES) {
    s += exp(x[base + c] - top);
  }
  let total = reduce_sum(i, s);
  for (var c = i; c < d.cols; c += LANES) {
    y[base + c] = exp(x[base + c] - top) / total;
  }
}
