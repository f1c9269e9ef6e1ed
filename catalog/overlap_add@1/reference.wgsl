// y[row, i] is the sum over windows j, in order, of x[row, j, i - j * stride], where that is inside.
alias T = f32;
struct Params { n: u32, windows: u32, w: u32, stride: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.count) { return; }
  let place = i % p.n;
  let base = (i / p.n) * p.windows;
  let first = (max(place + 1u, p.w) - p.w + p.stride - 1u) / p.stride;
  let end = min(place / p.stride + 1u, p.windows);
  var sum = T();
  for (var j = first; j < end; j++) { sum = sum + x[(base + j) * p.w + place - j * p.stride]; }
  y[i] = sum;
}
