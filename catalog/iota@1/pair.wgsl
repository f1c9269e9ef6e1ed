// start + i step as 64 bits, the low word first.
alias T = vec2<u32>;
struct Params { start: i32, step: i32, count: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<T>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.count) { return; }
  let v = p.start + i32(i) * p.step;
  y[i] = vec2<u32>(bitcast<u32>(v), bitcast<u32>(v >> 31u));
}
