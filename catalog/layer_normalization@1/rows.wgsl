// The last dimensions, rows that lie in memory in one piece: LANES lanes a row, 256 lanes a workgroup. A row is read twice: for its mean and variance, then for the quotients.
alias T = f32;
struct Params { length: u32, has_scale: u32, has_bias: u32, epsilon: f32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

override LANES: u32 = 256; // lanes a row: a power of 2, at most 256
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
fn finish(v: f32, j: u32) -> T {
  var w = v;
  if (p.has_scale != 0u) { w *= f32(scale[j]); }
  if (p.has_bias != 0u) { w += f32(bias[j]); }
  return T(w);
}

// The same elements of y: four are read before the first is written.
fn write(base: u32, first: u32, end: u32, step: u32, mean: f32, root: f32) {
  var j = first;
  while (j + 3u * step < end) {
    let at = base + j;
    let a = (vec4<f32>(f32(x[at]), f32(x[at + step]), f32(x[at + 2u * step]), f32(x[at + 3u * step])) - mean) / root;
    y[at] = finish(a.x, j);
    y[at + step] = finish(a.y, j + step);
    y[at + 2u * step] = finish(a.z, j + 2u * step);
    y[at + 3u * step] = finish(a.w, j + 3u * step);
    j += 4u * step;
  }
  for (; j < end; j += step) { y[base + j] = finish((f32(x[base + j]) - mean) / root, j); }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let mine = (group.y * groups.x + group.x) * (256u / LANES) + lane / LANES;
  let row = min(mine, p.count - 1u);
  let first = lane % LANES;
  let base = row * p.length;
  part[lane] = lane_stat(base, first, p.length, LANES);
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    if (first < half) { part[lane] = join(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  let whole = part[lane - first];
  let root = sqrt(whole.squares / f32(p.length) + p.epsilon);
  if (mine < p.count) { write(base, first, p.length, LANES, whole.sum / f32(p.length), root); }
}
