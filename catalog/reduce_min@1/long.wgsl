// Long rows: spans takes the least of a span of terms in each workgroup, total the results of the spans.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32, span: u32, spans: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<storage, read_write> bests: array<T>; // count x spans
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> part: array<T, 256>;

fn kept_at(index: u32) -> u32 {
  var rest = index;
  var at = p.kept.offset;
  for (var r = p.kept.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.kept.dims[d / 4u][d % 4u];
    at += (rest % n) * p.kept.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn reduced_at(index: u32) -> u32 {
  var rest = index;
  var at = p.reduced.offset;
  for (var r = p.reduced.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.reduced.dims[d / 4u][d % 4u];
    at += (rest % n) * p.reduced.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

// The least of the terms first, first + step, ... below end, and of the first of all: eight at a time, so that as many loads are
// on their way.
fn lane_best(base: u32, first: u32, end: u32, step: u32) -> T {
  var best = x[base + reduced_at(min(first, p.length - 1u))];
  var j = first;
  if (p.reduced.rank == 1u) {
    let s = step * p.reduced.strides[0].x;
    while (j + 7u * step < end) {
      let at = base + j * p.reduced.strides[0].x;
      let low = min(min(x[at], x[at + s]), min(x[at + 2u * s], x[at + 3u * s]));
      let high = min(min(x[at + 4u * s], x[at + 5u * s]), min(x[at + 6u * s], x[at + 7u * s]));
      best = min(best, min(low, high));
      j += 8u * step;
    }
  }
  while (j < end) {
    best = min(best, x[base + reduced_at(j)]);
    j += step;
  }
  return best;
}

// All lanes' part together, in every lane.
fn join(mine: T, lane: u32) -> T {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] = min(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  return part[0];
}

@compute @workgroup_size(256)
fn spans(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let at = group.y * groups.x + group.x;
  let first = (at % p.spans) * p.span;
  let whole = join(lane_best(kept_at(min(at / p.spans, p.count - 1u)), first + lane, min(first + p.span, p.length), 256u), lane);
  if (lane == 0u && at < p.count * p.spans) { bests[at] = whole; }
}

@compute @workgroup_size(256)
fn total(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  let row = min(i, p.count - 1u) * p.spans;
  var best = bests[row];
  for (var j = lane; j < p.spans; j += 256u) { best = min(best, bests[row + j]); }
  let whole = join(best, lane);
  if (lane == 0u && i < p.count) { y[i] = whole; }
}
