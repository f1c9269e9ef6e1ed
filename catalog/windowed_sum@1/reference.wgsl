// Element j of a row is the sum of the w elements from j on, pairwise: level l of a binary counter holds the sum of 2^l
// consecutive terms.
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
  var level: array<T, 32>;
  for (var j = 0u; j < p.w; j++) {
    var sum = x[start + j];
    var l = 0u;
    for (var carry = j; (carry & 1u) == 1u; carry >>= 1u) {
      sum = level[l] + sum;
      l++;
    }
    level[l] = sum;
  }
  var total = T();
  for (var l = 0u; l < 32u; l++) {
    if (((p.w >> l) & 1u) == 1u) { total = level[l] + total; }
  }
  y[i] = total;
}
