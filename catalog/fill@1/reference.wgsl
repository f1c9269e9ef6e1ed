// One value everywhere.
alias T = f32;
struct Params { count: u32, value: T }
@group(0) @binding(0) var<storage, read_write> y: array<T>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  y[i] = p.value;
}
