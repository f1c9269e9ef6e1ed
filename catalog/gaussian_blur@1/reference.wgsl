// Rows, then columns, each with the same weights; what lies outside is 0.
alias T = f32;
struct Params { h: u32, w: u32, out_h: u32, out_w: u32, window: u32, before: u32, sigma: f32, rows: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<storage, read_write> wide: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

// Of the k-th sample of a window, without the common factor.
fn weight(k: u32) -> f32 {
  let t = (f32(k) - f32(p.window / 2u)) / p.sigma;
  return exp(-0.5 * t * t);
}

@compute @workgroup_size(64)
fn rows(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.rows) { return; }
  let line = i / p.out_w;
  let column = i % p.out_w;
  var sum = 0.0;
  var all = 0.0;
  for (var k = 0u; k < p.window; k++) {
    let at = column + k;
    all += weight(k);
    if (at >= p.before && at - p.before < p.w) { sum += weight(k) * f32(x[line * p.w + at - p.before]); }
  }
  wide[i] = sum / all;
}

@compute @workgroup_size(64)
fn columns(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let column = i % p.out_w;
  let row = (i / p.out_w) % p.out_h;
  let plane = i / (p.out_w * p.out_h);
  var sum = 0.0;
  var all = 0.0;
  for (var k = 0u; k < p.window; k++) {
    let at = row + k;
    all += weight(k);
    if (at >= p.before && at - p.before < p.h) { sum += weight(k) * wide[(plane * p.h + at - p.before) * p.out_w + column]; }
  }
  y[i] = T(sum / all);
}
