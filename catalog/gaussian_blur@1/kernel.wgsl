// A tile of 16 x 16 results a workgroup: what it needs is read once, blurred along rows, then along columns.
alias T = f32;
struct Params { h: u32, w: u32, out_h: u32, out_w: u32, window: u32, before: u32, sigma: f32, tiles_x: u32, tiles_y: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> weight: array<f32, 33>;
var<workgroup> tile: array<f32, 2304>;  // at most 48 x 48
var<workgroup> lines: array<f32, 768>;  // at most 48 x 16

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
    var v = 0.0;
    if (row >= p.before && row - p.before < p.h && column >= p.before && column - p.before < p.w) {
      v = f32(x[(plane * p.h + row - p.before) * p.w + column - p.before]);
    }
    tile[i] = v;
  }
  workgroupBarrier();
  var all = 0.0;
  for (var k = 0u; k < p.window; k++) { all += weight[k]; }
  for (var i = lane; i < side * 16u; i += 256u) {
    var sum = 0.0;
    for (var k = 0u; k < p.window; k++) { sum += weight[k] * tile[(i / 16u) * side + i % 16u + k]; }
    lines[i] = sum / all;
  }
  workgroupBarrier();
  let row = y0 + lane / 16u;
  let column = x0 + lane % 16u;
  if (row >= p.out_h || column >= p.out_w) { return; }
  var sum = 0.0;
  for (var k = 0u; k < p.window; k++) { sum += weight[k] * lines[(lane / 16u + k) * 16u + lane % 16u]; }
  y[(plane * p.out_h + row) * p.out_w + column] = T(sum / all);
}
