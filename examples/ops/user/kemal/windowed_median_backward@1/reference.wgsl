// d_x[i] is the sum of the gradients of those windows over i whose median is sample i: it has (w - 1) / 2
// others before it in the order of (value, position). At most w terms, first window first.
struct Params { count: u32, w: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> d_y: array<f32>;
@group(0) @binding(2) var<storage, read_write> d_x: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let first = select(0u, i + 1u - p.w, i + 1u > p.w);
  let last = min(i, p.count - p.w);
  let own = x[i];
  var sum = 0.0;
  for (var s = first; s <= last; s++) {
    var before = 0u;
    for (var k = s; k < s + p.w; k++) {
      let other = x[k];
      if (other < own || (other == own && k < i)) { before++; }
    }
    if (before == (p.w - 1u) / 2u) { sum += d_y[s]; }
  }
  d_x[i] = sum;
}
