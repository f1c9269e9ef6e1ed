// Sums over spans of elements, then the sum of the spans: fixed order.
alias T = f32;
struct Params { count: u32, span: u32, spans: u32, divisor: f32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> target_: array<T>;
@group(0) @binding(2) var<storage, read_write> loss: array<T>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

var<workgroup> part: array<f32, 64>;

// The sum over all lanes, in every lane.
fn whole(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  return part[0];
}

fn term(x: f32, t: f32) -> f32 {
  let d = x - t;
  return d * d;
}

@compute @workgroup_size(64)
fn spans(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let s = group.y * groups.x + group.x;
  let end = min((s + 1u) * p.span, p.count);
  var sum = 0.0;
  for (var i = s * p.span + lane; i < end; i += 64u) { sum += term(f32(x[i]), f32(target_[i])); }
  sum = whole(sum, lane);
  if (lane == 0u && s < p.spans) { sums[s] = sum; }
}

@compute @workgroup_size(64)
fn total(@builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var s = lane; s < p.spans; s += 64u) { sum += sums[s]; }
  sum = whole(sum, lane);
  if (lane == 0u) { loss[0] = T(sum / p.divisor); }
}
