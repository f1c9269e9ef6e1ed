// `rest` writes the value behind what is there; `transfer` runs over what is there alone.
alias T = f32;
struct Params { value: T, n: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> m: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(256)
fn rest(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= m[0] && i < p.n) { y[i] = p.value; }
}

@compute @workgroup_size(256)
fn transfer(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let i = (group.y * groups.x + group.x) * 256u + lane;
  if (i < m[0]) { y[i] = x[i]; }
}
