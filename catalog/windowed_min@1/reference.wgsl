// Element j of a row is the least of the w elements from j on.
alias T = f32;
struct Params { n: u32, results: u32, w: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let start = (i / p.results) * p.n + i % p.results;
  var best = x[start];
  for (var j = 1u; j < p.w; j++) { best = min(best, x[start + j]); }
  y[i] = best;
}
