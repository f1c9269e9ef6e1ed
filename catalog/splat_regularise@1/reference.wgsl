// One splat an invocation.
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read_write> d_geometry: array<f32>;
@group(0) @binding(1) var<storage, read> geometry: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> live: array<u32>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n || i >= live[0]) { return; }
  for (var k = 3u; k < 6u; k++) { d_geometry[i * 11u + k] += weight[1] * exp(min(geometry[i * 11u + k], 20.0)); }
  let e = exp(-abs(geometry[i * 11u + 10u]));
  d_geometry[i * 11u + 10u] += weight[0] * e / ((1.0 + e) * (1.0 + e));
}
