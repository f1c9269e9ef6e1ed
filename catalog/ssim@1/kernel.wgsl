// A tile of 16 x 16 places a workgroup: means of a, b, a a, b b and a b along rows, then along columns, then the
// index; beside it the sum of the tile, and in a second pass the mean over all.
alias T = f32;
struct Params {
  h: u32, w: u32, out_h: u32, out_w: u32, window: u32, before: u32, sigma: f32,
  tiles_x: u32, tiles_y: u32, count: u32, c1: f32, c2: f32, size: u32,
}
@group(0) @binding(0) var<storage, read> a: array<T>;
@group(0) @binding(1) var<storage, read> b: array<T>;
@group(0) @binding(2) var<storage, read_write> map: array<T>;
@group(0) @binding(3) var<storage, read_write> mean: array<T>;
@group(0) @binding(4) var<storage, read_write> sums: array<f32>;
@group(0) @binding(5) var<uniform> p: Params;

var<workgroup> weight: array<f32, 11>;
var<workgroup> tile: array<vec2<f32>, 676>;  // at most 26 x 26
var<workgroup> means: array<vec2<f32>, 416>; // at most 26 x 16: a, b
var<workgroup> squares: array<vec2<f32>, 416>; // a a, b b
var<workgroup> crossed: array<f32, 416>;   // a b
var<workgroup> part: array<f32, 256>;

fn whole(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  return part[0];
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let job = group.y * groups.x + group.x;
  if (job >= p.count) { return; }
  let plane = job / (p.tiles_x * p.tiles_y);
  let x0 = (job % p.tiles_x) * 16u;
  let y0 = (job / p.tiles_x % p.tiles_y) * 16u;
  let side = 15u + p.window;
  if (lane < p.window) {
    let t = (f32(lane) - f32(p.window / 2u)) / p.sigma;
    weight[lane] = exp(-0.5 * t * t);
  }
  for (var i = lane; i < side * side; i += 256u) {
    let row = y0 + i / side;
    let column = x0 + i % side;
    var v = vec2<f32>(0.0);
    if (row >= p.before && row - p.before < p.h && column >= p.before && column - p.before < p.w) {
      let at = (plane * p.h + row - p.before) * p.w + column - p.before;
      v = vec2<f32>(f32(a[at]), f32(b[at]));
    }
    tile[i] = v;
  }
  workgroupBarrier();
  var all = 0.0;
  for (var k = 0u; k < p.window; k++) { all += weight[k]; }
  for (var i = lane; i < side * 16u; i += 256u) {
    var m = vec2<f32>(0.0);
    var q = vec3<f32>(0.0);
    for (var k = 0u; k < p.window; k++) {
      let v = tile[(i / 16u) * side + i % 16u + k];
      m += weight[k] * v;
      q += weight[k] * vec3<f32>(v * v, v.x * v.y);
    }
    means[i] = m / all;
    squares[i] = q.xy / all;
    crossed[i] = q.z / all;
  }
  workgroupBarrier();
  let row = y0 + lane / 16u;
  let column = x0 + lane % 16u;
  var index = 0.0;
  if (row < p.out_h && column < p.out_w) {
    var m = vec2<f32>(0.0);
    var q = vec3<f32>(0.0);
    for (var k = 0u; k < p.window; k++) {
      let i = (lane / 16u + k) * 16u + lane % 16u;
      m += weight[k] * means[i];
      q += weight[k] * vec3<f32>(squares[i], crossed[i]);
    }
    m /= all;
    q /= all;
    let variance = q.xy - m * m;
    index = (2.0 * m.x * m.y + p.c1) * (2.0 * (q.z - m.x * m.y) + p.c2) / ((m.x * m.x + m.y * m.y + p.c1) * (variance.x + variance.y + p.c2));
    map[(plane * p.out_h + row) * p.out_w + column] = T(index);
  }
  let sum = whole(index, lane);
  if (lane == 0u) { sums[job] = sum; }
}

@compute @workgroup_size(256)
fn total(@builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var i = lane; i < p.count; i += 256u) { sum += sums[i]; }
  sum = whole(sum, lane);
  if (lane == 0u) { mean[0] = T(sum / f32(p.size)); }
}
