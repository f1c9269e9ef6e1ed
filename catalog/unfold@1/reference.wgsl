// y[row, j, q] = x[row, j * stride + q].
alias T = f32;
struct Params { n: u32, windows: u32, w: u32, stride: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.count) { return; }
  let window = i / p.w;
  y[i] = x[(window / p.windows) * p.n + (window % p.windows) * p.stride + i % p.w];
}
