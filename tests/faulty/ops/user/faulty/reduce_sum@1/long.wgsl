// Long sums: spans adds a span of terms in each workgroup, total the sums of the spans. Lanes add in blocks of 16 and
// join in a tree: the error grows like that of pairwise summation.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32, span: u32, spans: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>; // count x spans
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> part: array<f32, 256>;

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

// The sum over all lanes, in every lane.
fn join(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
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
  var sum = 0.0;
  var j = first + lane;
  while (j < end) {
    var block = 0.0;
    for (var k = 0u; k < 16u && j < end; k++) {
      block += f32(x[base + reduced_at(j)]);
      j += 256u;
    }
    sum += block;
  }
  let whole = join(sum, lane);
  if (lane == 0u && live) { sums[at] = whole; }
}

@compute @workgroup_size(256)
fn total(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  let row = min(i, p.count - 1u) * p.spans;
  var sum = 0.0;
  for (var j = lane; j < p.spans; j += 256u) { sum += sums[row + j]; }
  let whole = join(sum, lane);
  if (lane == 0u && i < p.count) { y[i] = T(whole); }
}
