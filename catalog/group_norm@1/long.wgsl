// Groups of channels of a sample, rows that lie in memory in one piece, long rows: spans finds the mean and variance of a span in each workgroup, apply joins those of the row and writes
// a span of y.
alias T = f32;
struct Params { length: u32, inner: u32, groups: u32, has_scale: u32, has_bias: u32, epsilon: f32, count: u32, span: u32, spans: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<storage, read_write> sums: array<f32>; // count x spans x 3
@group(0) @binding(5) var<uniform> p: Params;

var<workgroup> part: array<Stat, 256>;

// The sum of n elements, and of their squared distances from the mean; joined with others it stays that (Chan, Golub and LeVeque).
struct Stat { n: f32, sum: f32, squares: f32 }

fn join(a: Stat, b: Stat) -> Stat {
  if (a.n == 0.0) { return b; }
  if (b.n == 0.0) { return a; }
  let n = a.n + b.n;
  let d = b.sum / b.n - a.sum / a.n;
  return Stat(n, a.sum + b.sum, a.squares + b.squares + d * d * (a.n * (b.n / n)));
}

// Over the elements first, first + step, ... below end of the row at base: eight at a time, so that as many loads are on their way.
fn lane_stat(base: u32, first: u32, end: u32, step: u32) -> Stat {
  var mine = Stat(0.0, 0.0, 0.0);
  var j = first;
  while (j + 7u * step < end) {
    let at = base + j;
    let a = vec4<f32>(f32(x[at]), f32(x[at + step]), f32(x[at + 2u * step]), f32(x[at + 3u * step]));
    let b = vec4<f32>(f32(x[at + 4u * step]), f32(x[at + 5u * step]), f32(x[at + 6u * step]), f32(x[at + 7u * step]));
    let c = a + b;
    let sum = (c.x + c.y) + (c.z + c.w);
    let d = a - sum * 0.125;
    let e = b - sum * 0.125;
    mine = join(mine, Stat(8.0, sum, dot(d, d) + dot(e, e)));
    j += 8u * step;
  }
  for (; j < end; j += step) { mine = join(mine, Stat(1.0, f32(x[base + j]), 0.0)); }
  return mine;
}

// What comes of v, which is normalised, at place j of the row.
fn finish(v: f32, j: u32, channel: u32) -> T {
  var w = v;
  if (p.has_scale != 0u) { w *= f32(scale[channel + j / p.inner]); }
  if (p.has_bias != 0u) { w += f32(bias[channel + j / p.inner]); }
  return T(w);
}

// The same elements of y: four are read before the first is written.
fn write(base: u32, first: u32, end: u32, step: u32, mean: f32, root: f32, channel: u32) {
  var j = first;
  while (j + 3u * step < end) {
    let at = base + j;
    let a = (vec4<f32>(f32(x[at]), f32(x[at + step]), f32(x[at + 2u * step]), f32(x[at + 3u * step])) - mean) / root;
    y[at] = finish(a.x, j, channel);
    y[at + step] = finish(a.y, j + step, channel);
    y[at + 2u * step] = finish(a.z, j + 2u * step, channel);
    y[at + 3u * step] = finish(a.w, j + 3u * step, channel);
    j += 4u * step;
  }
  for (; j < end; j += step) { y[base + j] = finish((f32(x[base + j]) - mean) / root, j, channel); }
}

// All lanes' part together, in every lane.
fn join_all(mine: Stat, lane: u32) -> Stat {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] = join(part[lane], part[lane + half]); }
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
  let whole = join_all(lane_stat(row * p.length, first + lane, min(first + p.span, p.length), 256u), lane);
  if (lane == 0u && at < p.count * p.spans) {
    sums[3u * at] = whole.n;
    sums[3u * at + 1u] = whole.sum;
    sums[3u * at + 2u] = whole.squares;
  }
}

@compute @workgroup_size(256)
fn apply(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let at = group.y * groups.x + group.x;
  let row = min(at / p.spans, p.count - 1u);
  let first = (at % p.spans) * p.span;
  var mine = Stat(0.0, 0.0, 0.0);
  for (var s = lane; s < p.spans; s += 256u) {
    let k = 3u * (row * p.spans + s);
    mine = join(mine, Stat(sums[k], sums[k + 1u], sums[k + 2u]));
  }
  let whole = join_all(mine, lane);
  let root = sqrt(whole.squares / f32(p.length) + p.epsilon);
  if (at < p.count * p.spans) { write(row * p.length, first + lane, min(first + p.span, p.length), 256u, whole.sum / f32(p.length), root, (row % p.groups) * (p.length / p.inner)); }
}
