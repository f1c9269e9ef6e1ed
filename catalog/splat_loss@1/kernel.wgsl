// A tile of 16 x 16 pixels of one channel a workgroup: the windows along rows, then along columns, in workgroup memory; the sums of the
// tiles, and in the last pass those over all, in a fixed order.
struct Params { h: u32, w: u32, window: u32, lambda: f32, across: u32, tiles: u32 }
@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<storage, read> truth: array<u32>;
@group(0) @binding(2) var<storage, read_write> loss: array<f32>;
@group(0) @binding(3) var<storage, read_write> map: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_image: array<f32>;
@group(0) @binding(5) var<storage, read_write> slopes: array<f32>;
@group(0) @binding(6) var<storage, read_write> sums: array<f32>;
@group(0) @binding(7) var<uniform> p: Params;

const C1: f32 = 1e-4;
const C2: f32 = 9e-4;
var<workgroup> weight: array<f32, 11>;
var<workgroup> around: array<vec2<f32>, 676>;  // at most 26 x 26
var<workgroup> means: array<vec2<f32>, 416>;   // at most 26 x 16, along rows: x, y
var<workgroup> squares: array<vec2<f32>, 416>; // x x, y y
var<workgroup> crossed: array<f32, 416>;       // x y
var<workgroup> steep: array<f32, 2028>;        // slopes of at most 26 x 26
var<workgroup> along: array<f32, 1248>;
var<workgroup> part: array<vec2<f32>, 256>;

fn values(pixel: u32, channel: u32) -> vec2<f32> {
  let word = truth[pixel];
  if (word >= 0x80000000u) { return vec2<f32>(0.0); }
  return vec2<f32>(image[pixel * 4u + channel], f32((word >> (8u * channel)) & 255u) / 255.0);
}

fn bell(k: u32) -> f32 {
  let t = (f32(k) - f32(p.window / 2u)) / 1.5;
  return exp(-0.5 * t * t);
}

fn set_weights(lane: u32) {
  if (lane < p.window) {
    var sum = 0.0;
    for (var k = 0u; k < p.window; k++) { sum += bell(k); }
    weight[lane] = bell(lane) / sum;
  }
}

// The sum over all lanes, in every lane.
fn whole(mine: vec2<f32>, lane: u32) -> vec2<f32> {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  return part[0];
}

@compute @workgroup_size(256)
fn similarity(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
              @builtin(local_invocation_index) lane: u32) {
  let job = group.y * groups.x + group.x;
  if (job >= p.tiles * 3u) { return; }
  let channel = job % 3u;
  let x0 = (job / 3u % p.across) * 16u;
  let y0 = (job / 3u / p.across) * 16u;
  let half = p.window / 2u;
  let side = 15u + p.window;
  set_weights(lane);
  for (var i = lane; i < side * side; i += 256u) {
    let row = y0 + i / side;
    let column = x0 + i % side;
    around[i] = vec2<f32>(0.0);
    if (row >= half && column >= half && row - half < p.h && column - half < p.w) {
      around[i] = values((row - half) * p.w + column - half, channel);
    }
  }
  workgroupBarrier();
  for (var i = lane; i < side * 16u; i += 256u) {
    var m = vec2<f32>(0.0);
    var q = vec3<f32>(0.0);
    for (var k = 0u; k < p.window; k++) {
      let v = around[(i / 16u) * side + i % 16u + k];
      m += weight[k] * v;
      q += weight[k] * vec3<f32>(v * v, v.x * v.y);
    }
    means[i] = m;
    squares[i] = q.xy;
    crossed[i] = q.z;
  }
  workgroupBarrier();
  let row = y0 + lane / 16u;
  let column = x0 + lane % 16u;
  var mine = vec2<f32>(0.0);
  if (row < p.h && column < p.w) {
    var m = vec2<f32>(0.0);
    var q = vec3<f32>(0.0);
    for (var k = 0u; k < p.window; k++) {
      let i = (lane / 16u + k) * 16u + lane % 16u;
      m += weight[k] * means[i];
      q += weight[k] * vec3<f32>(squares[i], crossed[i]);
    }
    let a1 = 2.0 * m.x * m.y + C1;
    let a2 = 2.0 * (q.z - m.x * m.y) + C2;
    let b1 = m.x * m.x + m.y * m.y + C1;
    let b2 = q.x - m.x * m.x + q.y - m.y * m.y + C2;
    let s = a1 * a2 / (b1 * b2);
    let at = (row * p.w + column) * 3u + channel;
    map[at] = s;
    slopes[at * 3u] = 2.0 * m.y * (a2 - a1) / (b1 * b2) - 2.0 * m.x * s * (1.0 / b1 - 1.0 / b2);
    slopes[at * 3u + 1u] = -s / b2;
    slopes[at * 3u + 2u] = 2.0 * a1 / (b1 * b2);
    let v = values(row * p.w + column, channel);
    mine = vec2<f32>(abs(v.x - v.y), s);
  }
  let sum = whole(mine, lane);
  if (lane == 0u) {
    sums[job * 2u] = sum.x;
    sums[job * 2u + 1u] = sum.y;
  }
}

@compute @workgroup_size(256)
fn gradient(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) lane: u32) {
  let job = group.y * groups.x + group.x;
  if (job >= p.tiles * 3u) { return; }
  let channel = job % 3u;
  let x0 = (job / 3u % p.across) * 16u;
  let y0 = (job / 3u / p.across) * 16u;
  let half = p.window / 2u;
  let side = 15u + p.window;
  set_weights(lane);
  for (var i = lane; i < side * side; i += 256u) {
    let row = y0 + i / side;
    let column = x0 + i % side;
    var here = vec3<f32>(0.0);
    if (row >= half && column >= half && row - half < p.h && column - half < p.w) {
      let at = (((row - half) * p.w + column - half) * 3u + channel) * 3u;
      here = vec3<f32>(slopes[at], slopes[at + 1u], slopes[at + 2u]);
    }
    steep[i * 3u] = here.x;
    steep[i * 3u + 1u] = here.y;
    steep[i * 3u + 2u] = here.z;
  }
  workgroupBarrier();
  for (var i = lane; i < side * 16u; i += 256u) {
    var d = vec3<f32>(0.0);
    for (var k = 0u; k < p.window; k++) {
      let at = ((i / 16u) * side + i % 16u + k) * 3u;
      d += weight[k] * vec3<f32>(steep[at], steep[at + 1u], steep[at + 2u]);
    }
    along[i * 3u] = d.x;
    along[i * 3u + 1u] = d.y;
    along[i * 3u + 2u] = d.z;
  }
  workgroupBarrier();
  let row = y0 + lane / 16u;
  let column = x0 + lane % 16u;
  if (row >= p.h || column >= p.w) { return; }
  var d = vec3<f32>(0.0);
  for (var k = 0u; k < p.window; k++) {
    let at = ((lane / 16u + k) * 16u + lane % 16u) * 3u;
    d += weight[k] * vec3<f32>(along[at], along[at + 1u], along[at + 2u]);
  }
  let pixel = row * p.w + column;
  let v = values(pixel, channel);
  let similar = d.x + 2.0 * v.x * d.y + v.y * d.z;
  let slope = ((1.0 - p.lambda) * sign(v.x - v.y) - p.lambda * similar) / f32(p.h * p.w * 3u);
  d_image[pixel * 4u + channel] = select(slope, 0.0, truth[pixel] >= 0x80000000u);
  if (channel == 0u) { d_image[pixel * 4u + 3u] = 0.0; }
}

@compute @workgroup_size(256)
fn total(@builtin(local_invocation_index) lane: u32) {
  var mine = vec2<f32>(0.0);
  for (var i = lane; i < p.tiles * 3u; i += 256u) { mine += vec2<f32>(sums[i * 2u], sums[i * 2u + 1u]); }
  let sum = whole(mine, lane) / f32(p.h * p.w * 3u);
  if (lane == 0u) {
    loss[0] = (1.0 - p.lambda) * sum.x + p.lambda * (1.0 - sum.y);
    loss[1] = sum.x;
    loss[2] = sum.y;
  }
}
