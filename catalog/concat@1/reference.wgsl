// One operand a pass: its rows (everything from the axis on) go to their place in the rows of y.
alias T = f32;
struct Params { inner: u32, outer: u32, offset: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  y[(i / p.inner) * p.outer + p.offset + i % p.inner] = x[i];
}
