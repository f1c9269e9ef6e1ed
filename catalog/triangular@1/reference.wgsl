// Each element looks on which side of the diagonal it lies.
alias T = f32;
struct Params { rows: u32, columns: u32, diagonal: i32, upper: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let column = i32(i % p.columns);
  let row = i32((i / p.columns) % p.rows);
  let offset = column - row;
  let kept = (p.upper != 0u && offset >= p.diagonal) || (p.upper == 0u && offset <= p.diagonal);
  if (kept) { y[i] = x[i]; } else { y[i] = T(); }
}
