// LANES lanes a row, 256 lanes a workgroup. A row is read twice: for its greatest element and the sum of exponentials, then for the quotients.
alias T = f32;
struct Params { inner: u32, length: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

override LANES: u32 = 64u; // a power of two, 256 at most: lanes a row
override ASIDE: bool = false; // rows lie side by side: neighbouring lanes take neighbouring rows
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

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) index: u32) {
  let rows = 256u / LANES;
  let lane = select(index % LANES, index / rows, ASIDE);
  let slot = select(index / LANES, index % rows, ASIDE);
  let i = (group.y * groups.x + group.x) * rows + slot;
  let row = min(i, p.count - 1u);
  let base = (row / p.inner) * p.length * p.inner + row % p.inner;
  let at = slot * LANES + lane;
  part[at] = lane_sum(base, lane, p.length, LANES);
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    if (lane < half) { part[at] = join(part[at], part[at + half]); }
    workgroupBarrier();
  }
  if (i < p.count) { write(base, lane, p.length, LANES, part[slot * LANES]); }
}
