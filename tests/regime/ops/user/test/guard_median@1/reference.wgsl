// Median by counting: the sample with (w - 1) / 2 others before it in the order
// of (value, position). O(w^2) a window, and short enough to be read as the definition.
struct Params { count: u32, w: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  for (var j = 0u; j < p.w; j++) {
    let candidate = x[i + j];
    var before = 0u;
    for (var k = 0u; k < p.w; k++) {
      let other = x[i + k];
      if (other < candidate || (other == candidate && k < j)) { before++; }
    }
    if (before == (p.w - 1u) / 2u) { y[i] = candidate; }
  }
}
