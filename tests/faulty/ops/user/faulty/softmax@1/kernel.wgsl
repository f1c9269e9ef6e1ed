// One workgroup a row: the greatest element, the sum of exponentials, then the quotients.
alias T = f32;
struct Params { inner: u32, length: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> part: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  let live = i < p.count;
  let row = min(i, p.count - 1u);
  let base = (row / p.inner) * p.length * p.inner + row % p.inner;

  var greatest = f32(x[base]);
  for (var j = lane; j < p.length; j += 64u) { greatest = max(greatest, f32(x[base + j * p.inner])); }
  part[lane] = greatest;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] = max(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  greatest = part[0];
  workgroupBarrier();

  var sum = 0.0;
  for (var j = lane; j < p.length; j += 64u) { sum += exp(f32(x[base + j * p.inner]) - greatest); }
  part[lane] = sum;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  sum = part[0];
  if (!live) { return; }
  for (var j = lane; j < p.length; j += 64u) {
    let at = base + j * p.inner;
    y[at] = T(exp(f32(x[at]) - greatest) / sum);
  }
}
