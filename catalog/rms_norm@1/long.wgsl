// The last dimensions, rows that lie in memory in one piece, long rows: spans finds the sum of squares of a span in each workgroup, apply joins those of the row and writes
// a span of y.
alias T = f32;
struct Params { length: u32, has_scale: u32, epsilon: f32, count: u32, span: u32, spans: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>; // count x spans
@group(0) @binding(4) var<uniform> p: Params;

var<workgroup> part: array<f32, 256>;

// The sum of squares over the elements first, first + step, ... below end of the row at base: eight at a time, so that as many loads are on
// their way.
fn lane_sum(base: u32, first: u32, end: u32, step: u32) -> f32 {
  var mine = 0.0;
  var j = first;
  while (j + 7u * step < end) {
    let at = base + j;
    let a = vec4<f32>(f32(x[at]), f32(x[at + step]), f32(x[at + 2u * step]), f32(x[at + 3u * step]));
    let b = vec4<f32>(f32(x[at + 4u * step]), f32(x[at + 5u * step]), f32(x[at + 6u * step]), f32(x[at + 7u * step]));
    mine += dot(a, a) + dot(b, b);
    j += 8u * step;
  }
  for (; j < end; j += step) {
    let v = f32(x[base + j]);
    mine += v * v;
  }
  return mine;
}

// What comes of v, which is normalised, at place j of the row.
fn finish(v: f32, j: u32) -> T {
  var w = v;
  if (p.has_scale != 0u) { w *= f32(scale[j]); }
  return T(w);
}

// The same elements of y: four are read before the first is written.
fn write(base: u32, first: u32, end: u32, step: u32, root: f32) {
  var j = first;
  while (j + 3u * step < end) {
    let at = base + j;
    let a = (vec4<f32>(f32(x[at]), f32(x[at + step]), f32(x[at + 2u * step]), f32(x[at + 3u * step]))) / root;
    y[at] = finish(a.x, j);
    y[at + step] = finish(a.y, j + step);
    y[at + 2u * step] = finish(a.z, j + 2u * step);
    y[at + 3u * step] = finish(a.w, j + 3u * step);
    j += 4u * step;
  }
  for (; j < end; j += step) { y[base + j] = finish((f32(x[base + j])) / root, j); }
}

// All lanes' part together, in every lane.
fn join_all(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] = part[lane] + part[lane + half]; }
    workgroupBarrier();
  }
  return part[0];
}

@compute @workgroup_size(256)
fn spans(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let at = group.y * groups.x + group.x;
  let row = min(at / p.spans, p.count - 1u);
  let first = (at % p.spans) * p.span;
  let whole = join_all(lane_sum(row * p.length, first + lane, min(first + p.span, p.length), 256u), lane);
  if (lane == 0u && at < p.count * p.spans) {
    sums[at] = whole;
  }
}

@compute @workgroup_size(256)
fn apply(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let at = group.y * groups.x + group.x;
  let row = min(at / p.spans, p.count - 1u);
  let first = (at % p.spans) * p.span;
  var mine = 0.0;
  for (var s = lane; s < p.spans; s += 256u) { mine += sums[row * p.spans + s]; }
  let whole = join_all(mine, lane);
  let root = sqrt(whole / f32(p.length) + p.epsilon);
  if (at < p.count * p.spans) { write(row * p.length, first + lane, min(first + p.span, p.length), 256u, root); }
}
