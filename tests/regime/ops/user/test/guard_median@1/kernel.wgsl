// One window a lane: insertion sort of the window in registers, then its middle.
struct Params { n: u32, w: u32 }
@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n - p.w) { return; }
  var window: array<f32, 31>;
  for (var j = 0u; j < p.w; j++) {
    let v = src[i + j];
    var k = j;
    while (k > 0u && window[k - 1u] > v) {
      window[k] = window[k - 1u];
      k--;
    }
    window[k] = v;
  }
  dst[i] = window[(p.w - 1u) / 2u];
}
