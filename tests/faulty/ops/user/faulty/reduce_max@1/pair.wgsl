// Maxima of 64-bit integers held as (low, high): main one result a lane, tree one result a workgroup.
alias T = vec2<u32>;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32, signed: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> part: array<T, 64>;

fn less(a: T, b: T) -> bool {
  if (a.y == b.y) { return a.x < b.x; }
  if (p.signed != 0u) { return bitcast<i32>(a.y) < bitcast<i32>(b.y); }
  return a.y < b.y;
}
fn join(a: T, b: T) -> T { return select(a, b, less(a, b)); }

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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let base = kept_at(i);
  var total = x[base + reduced_at(0u)];
  for (var j = 1u; j < p.length; j++) { total = join(total, x[base + reduced_at(j)]); }
  y[i] = total;
}

@compute @workgroup_size(64)
fn tree(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  let base = kept_at(min(i, p.count - 1u));
  var total = x[base + reduced_at(min(lane, p.length - 1u))];
  for (var j = lane + 64u; j < p.length; j += 64u) { total = join(total, x[base + reduced_at(j)]); }
  part[lane] = total;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] = join(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  if (lane == 0u && i < p.count) { y[i] = part[0]; }
}
