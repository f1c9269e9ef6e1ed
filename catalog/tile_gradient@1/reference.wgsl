// Each element sums its repetitions, pairwise: level l holds the sum of 2^l.
alias T = f32;
struct Params { x: array<vec4<u32>, 2>, y: array<vec4<u32>, 2>, rank: u32, repetitions: u32, count: u32 }
@group(0) @binding(0) var<storage, read> gradient: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var level: array<T, 32>;
  var terms = 0u;
  for (var j = 0u; j < p.repetitions; j++) {
    var rest = i;
    var number = j;
    var at = 0u;
    var scale = 1u;
    for (var r = p.rank; r > 0u; r--) {
      let d = r - 1u;
      let n = p.y[d / 4u][d % 4u];
      let m = p.x[d / 4u][d % 4u];
      at += (rest % n + number % (m / n) * n) * scale;
      rest /= n;
      number /= m / n;
      scale *= m;
    }
    var term = gradient[at];
    var l = 0u;
    for (var carry = terms; (carry & 1u) == 1u; carry >>= 1u) {
      term = level[l] + term;
      l++;
    }
    level[l] = term;
    terms++;
  }
  var sum = T();
  for (var l = 0u; l < 32u; l++) {
    if (((terms >> l) & 1u) == 1u) { sum = level[l] + sum; }
  }
  y[i] = sum;
}
