// Element j of a row is the position of the greatest of the w elements from j on; of equal ones the first.
alias T = f32;
struct Params { n: u32, results: u32, w: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@group(0) @binding(2) var<uniform> p: Params;

fn better(a: u32, b: u32) -> u32 { return select(a, b, x[a] < x[b]); }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let row = (i / p.results) * p.n;
  let start = row + i % p.results;
  var best = start;
  for (var j = 1u; j < p.w; j++) { best = better(best, start + j); }
  y[i] = i32(best - row);
}
