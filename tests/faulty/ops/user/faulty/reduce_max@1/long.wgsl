// Long rows: spans takes the greatest of a span of terms in each workgroup, total the greatest of the spans.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32, span: u32, spans: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<storage, read_write> spans_best: array<T>; // count x spans
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
  var at = 0u;
  for (var r = p.reduced.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.reduced.dims[d / 4u][d % 4u];
    at += (rest % n) * p.reduced.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

// The greatest over all lanes, in every lane.
fn join(mine: T, lane: u32) -> T {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] = max(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  return part[0];
}

@compute @workgroup_size(256)
fn spans(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let at = group.y * groups.x + group.x;
  let live = at < p.count * p.spans;
  let base = kept_at(min(at / p.spans, p.count - 1u));
  let first = (at % p.spans) * p.span;
  let end = min(first + p.span, p.length);
  var best = x[base + reduced_at(min(first + lane, end - 1u))];
  for (var j = first + lane + 256u; j < end; j += 256u) { best = max(best, x[base + reduced_at(j)]); }
  let whole = join(best, lane);
  if (lane == 0u && live) { spans_best[at] = whole; }
}

@compute @workgroup_size(256)
fn total(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  let row = min(i, p.count - 1u) * p.spans;
  var best = spans_best[row + min(lane, p.spans - 1u)];
  for (var j = lane + 256u; j < p.spans; j += 256u) { best = max(best, spans_best[row + j]); }
  let whole = join(best, lane);
  if (lane == 0u && i < p.count) { y[i] = whole; }
}
