// The greatest element of a row, the sum of exponentials, then the logarithms: one to 32 rows a workgroup.
alias T = f32;
struct Params { inner: u32, length: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

override LANES: u32 = 256; // lanes a row: a power of 2, at most 256
var<workgroup> part: array<f32, 256>;

// The greatest over the lanes of a row, in each of them.
fn highest(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    if (lane % LANES < half) { part[lane] = max(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  let all = part[lane - lane % LANES];
  workgroupBarrier();
  return all;
}

// The sum over the lanes of a row, in each of them.
fn whole(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    if (lane % LANES < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  let all = part[lane - lane % LANES];
  workgroupBarrier();
  return all;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let mine = (group.y * groups.x + group.x) * (256u / LANES) + lane / LANES;
  let row = min(mine, p.count - 1u);
  let first = lane % LANES;
  let base = (row / p.inner) * p.length * p.inner + row % p.inner;
  var greatest = f32(x[base]);
  for (var j = first; j < p.length; j += LANES) { greatest = max(greatest, f32(x[base + j * p.inner])); }
  greatest = highest(greatest, lane);
  var sum = 0.0;
  for (var j = first; j < p.length; j += LANES) { sum += exp(f32(x[base + j * p.inner]) - greatest); }
  sum = whole(sum, lane);
  let logarithm = log(sum);
  if (mine >= p.count) { return; }
  for (var j = first; j < p.length; j += LANES) {
    let at = base + j * p.inner;
    y[at] = T(f32(x[at]) - greatest - logarithm);
  }
}
