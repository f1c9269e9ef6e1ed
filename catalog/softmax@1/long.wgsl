// Long rows: spans finds the greatest element and the sum of exponentials of a span in each workgroup, apply joins those of the row and writes
// the quotients of a span.
alias T = f32;
struct Params { inner: u32, length: u32, count: u32, span: u32, spans: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>; // count x spans x 2
@group(0) @binding(3) var<uniform> p: Params;

const LOWEST = -3.4028234e38; // below every finite element: exp(-infinity - LOWEST) is 0, not NaN
var<workgroup> part: array<Sum, 256>;

// The greatest element and the sum of exponentials below it; joined with others it stays that.
struct Sum { greatest: f32, sum: f32 }

fn join(a: Sum, b: Sum) -> Sum {
  let greatest = max(a.greatest, b.greatest);
  return Sum(greatest, a.sum * exp(a.greatest - greatest) + b.sum * exp(b.greatest - greatest));
}

// Over the elements first, first + step, ... below end of the row at base: eight at a time, so that as many loads are on their way.
fn lane_sum(base: u32, first: u32, end: u32, step: u32) -> Sum {
  var mine = Sum(LOWEST, 0.0);
  let s = step * p.inner;
  var j = first;
  while (j + 7u * step < end) {
    let at = base + j * p.inner;
    let a = vec4<f32>(f32(x[at]), f32(x[at + s]), f32(x[at + 2u * s]), f32(x[at + 3u * s]));
    let b = vec4<f32>(f32(x[at + 4u * s]), f32(x[at + 5u * s]), f32(x[at + 6u * s]), f32(x[at + 7u * s]));
    let c = max(a, b);
    let greatest = max(mine.greatest, max(max(c.x, c.y), max(c.z, c.w)));
    let e = exp(a - greatest) + exp(b - greatest);
    mine = Sum(greatest, mine.sum * exp(mine.greatest - greatest) + ((e.x + e.y) + (e.z + e.w)));
    j += 8u * step;
  }
  for (; j < end; j += step) {
    let v = f32(x[base + j * p.inner]);
    let greatest = max(mine.greatest, v);
    mine = Sum(greatest, mine.sum * exp(mine.greatest - greatest) + exp(v - greatest));
  }
  return mine;
}

// The quotients of the same elements: four are read before the first is written.
fn write(base: u32, first: u32, end: u32, step: u32, row: Sum) {
  let s = step * p.inner;
  var j = first;
  while (j + 3u * step < end) {
    let at = base + j * p.inner;
    let a = vec4<f32>(f32(x[at]), f32(x[at + s]), f32(x[at + 2u * s]), f32(x[at + 3u * s]));
    let q = exp(a - row.greatest) / row.sum;
    y[at] = T(q.x);
    y[at + s] = T(q.y);
    y[at + 2u * s] = T(q.z);
    y[at + 3u * s] = T(q.w);
    j += 4u * step;
  }
  for (; j < end; j += step) {
    let at = base + j * p.inner;
    y[at] = T(exp(f32(x[at]) - row.greatest) / row.sum);
  }
}

// All lanes' part together, in every lane.
fn join_all(mine: Sum, lane: u32) -> Sum {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] = join(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  return part[0];
}

fn row_base(row: u32) -> u32 { return (row / p.inner) * p.length * p.inner + row % p.inner; }

@compute @workgroup_size(256)
fn spans(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let at = group.y * groups.x + group.x;
  let row = min(at / p.spans, p.count - 1u);
  let first = (at % p.spans) * p.span;
  let whole = join_all(lane_sum(row_base(row), first + lane, min(first + p.span, p.length), 256u), lane);
  if (lane == 0u && at < p.count * p.spans) {
    sums[2u * at] = whole.greatest;
    sums[2u * at + 1u] = whole.sum;
  }
}

@compute @workgroup_size(256)
fn apply(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let at = group.y * groups.x + group.x;
  let row = min(at / p.spans, p.count - 1u);
  let first = (at % p.spans) * p.span;
  var mine = Sum(LOWEST, 0.0);
  for (var s = lane; s < p.spans; s += 256u) {
    let k = 2u * (row * p.spans + s);
    mine = join(mine, Sum(sums[k], sums[k + 1u]));
  }
  let whole = join_all(mine, lane);
  if (at < p.count * p.spans) { write(row_base(row), first + lane, min(first + p.span, p.length), 256u, whole); }
}
