// Counts are added atomically: a workgroup counts 4,096 elements for itself, then adds what it has. Where there are more bins
// than it holds, `wide` adds every element. Integers have the same sum in any order.
alias T = f32;
struct Params { count: u32, bins: u32, low: f32, high: f32, step: f32, zero: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> p: Params;

const HELD = 2048u;
var<workgroup> counts: array<atomic<u32>, 2048>;

// The lower edge of bin k; the last one is `high` itself. Edges come from parameters alone, so that bins are found by comparison.
// The exclusive or with zero keeps product and sum apart: both are rounded, on every device.
fn edge(k: u32) -> f32 {
  let product = f32(k) * p.step;
  return select(p.low + bitcast<f32>(bitcast<u32>(product) ^ p.zero), p.high, k == p.bins);
}

// The bin of v, which lies from `low` to `high`.
fn bin_of(v: f32) -> u32 {
  var first = 0u;
  var last = p.bins - 1u;
  while (first < last) {
    let half = (first + last + 1u) / 2u;
    if (v >= edge(half)) { first = half; } else { last = half - 1u; }
  }
  return first;
}

@compute @workgroup_size(256)
fn clear(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let k = id.y * (groups.x * 256u) + id.x;
  if (k < p.bins) { atomicStore(&y[k], 0u); }
}

@compute @workgroup_size(256)
fn narrow(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
  for (var k = lane; k < p.bins; k += 256u) { atomicStore(&counts[k], 0u); }
  workgroupBarrier();
  let first = (group.y * groups.x + group.x) * 4096u;
  let end = min(first + 4096u, p.count);
  for (var i = first + lane; i < end; i += 256u) {
    let v = f32(x[i]);
    if (v >= p.low && v <= p.high) { atomicAdd(&counts[bin_of(v)], 1u); }
  }
  workgroupBarrier();
  for (var k = lane; k < p.bins; k += 256u) {
    let n = atomicLoad(&counts[k]);
    if (n > 0u) { atomicAdd(&y[k], n); }
  }
}

@compute @workgroup_size(256)
fn wide(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.count) { return; }
  let v = f32(x[i]);
  if (v >= p.low && v <= p.high) { atomicAdd(&y[bin_of(v)], 1u); }
}
