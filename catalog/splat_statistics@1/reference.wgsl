// One splat an invocation.
struct Params { n: u32, half_width: f32, half_height: f32 }
@group(0) @binding(0) var<storage, read_write> statistics: array<f32>;
@group(0) @binding(1) var<storage, read> d_splat: array<f32>;
@group(0) @binding(2) var<storage, read> rect: array<u32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n) { return; }
  if (rect[i * 4u] >= rect[i * 4u + 2u] || rect[i * 4u + 1u] >= rect[i * 4u + 3u]) { return; }
  let g = vec2<f32>(d_splat[i * 9u] * p.half_width, d_splat[i * 9u + 1u] * p.half_height);
  statistics[i * 2u] += sqrt(g.x * g.x + g.y * g.y);
  statistics[i * 2u + 1u] += 1.0;
}
