// Outputs that lie side by side while their terms lie apart: 64 outputs a workgroup, four lanes an output, so that neighbours read neighbours.
// spans takes the greatest of a span of terms for each output, total the results of the spans.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32, span: u32, spans: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<storage, read_write> bests: array<T>; // spans x count
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

// The greatest of the terms first, first + step, ... below end, and of the first of all: eight at a time, so that as many loads are
// on their way.
fn lane_best(base: u32, first: u32, end: u32, step: u32) -> T {
  var best = x[base + reduced_at(min(first, p.length - 1u))];
  var j = first;
  if (p.reduced.rank == 1u) {
    let s = step * p.reduced.strides[0].x;
    while (j + 7u * step < end) {
      let at = base + j * p.reduced.strides[0].x;
      let low = max(max(x[at], x[at + s]), max(x[at + 2u * s], x[at + 3u * s]));
      let high = max(max(x[at + 4u * s], x[at + 5u * s]), max(x[at + 6u * s], x[at + 7u * s]));
      best = max(best, max(low, high));
      j += 8u * step;
    }
  }
  while (j < end) {
    best = max(best, x[base + reduced_at(j)]);
    j += step;
  }
  return best;
}

// The four lanes' part of output index % 64, in each of them.
fn join(mine: T, index: u32) -> T {
  part[index] = mine;
  workgroupBarrier();
  let at = index % 64u;
  return max(max(part[at], part[at + 64u]), max(part[at + 128u], part[at + 192u]));
}

@compute @workgroup_size(256)
fn spans(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) index: u32) {
  let at = group.y * groups.x + group.x;
  let span = at % p.spans;
  let i = (at / p.spans) * 64u + index % 64u;
  let first = span * p.span;
  let whole = join(lane_best(kept_at(min(i, p.count - 1u)), first + index / 64u, min(first + p.span, p.length), 4u), index);
  if (index < 64u && i < p.count) { bests[span * p.count + i] = whole; }
}

@compute @workgroup_size(256)
fn total(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) index: u32) {
  let i = (group.y * groups.x + group.x) * 64u + index % 64u;
  let column = min(i, p.count - 1u);
  var best = bests[column];
  for (var j = index / 64u; j < p.spans; j += 4u) { best = max(best, bests[j * p.count + column]); }
  let whole = join(best, index);
  if (index < 64u && i < p.count) { y[i] = whole; }
}
