// One result a lane, summed pairwise: level l holds the sum of 2^l consecutive products.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { m: u32, n: u32, k: u32, at: u32, bt: u32, alpha: f32, beta: f32, has_c: u32, c: View, count: u32 }
@group(0) @binding(0) var<storage, read> a: array<T>;
@group(0) @binding(1) var<storage, read> b: array<T>;
@group(0) @binding(2) var<storage, read> c: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

fn c_at(index: u32) -> u32 {
  var rest = index;
  var at = p.c.offset;
  for (var r = p.c.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.c.dims[d / 4u][d % 4u];
    at += (rest % n) * p.c.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let row = i / p.n;
  let column = i % p.n;
  var level: array<T, 32>;
  for (var j = 0u; j < p.k; j++) {
    var term = a[select(row * p.k + j, j * p.m + row, p.at != 0u)] * b[select(j * p.n + column, column * p.k + j, p.bt != 0u)];
    var l = 0u;
    for (var carry = j; (carry & 1u) == 1u; carry >>= 1u) {
      term = level[l] + term;
      l++;
    }
    level[l] = term;
  }
  var sum = T();
  for (var l = 0u; l < 32u; l++) {
    if (((p.k >> l) & 1u) == 1u) { sum = level[l] + sum; }
  }
  sum *= T(p.alpha);
  if (p.has_c != 0u) { sum += T(p.beta) * c[c_at(i)]; }
  y[i] = sum;
}
