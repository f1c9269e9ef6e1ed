// One element a lane counts those before it; the last one knows the number.
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> m: u32;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n) { return; }
  var at = 0u;
  for (var k = 0u; k < i; k++) { at += select(0u, 1u, x[k] > 0.0); }
  let kept = x[i] > 0.0;
  if (kept) { y[at] = x[i]; }
  if (i + 1u == p.n) { m = at + select(0u, 1u, kept); }
}
