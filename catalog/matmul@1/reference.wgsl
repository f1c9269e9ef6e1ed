// The sum of products, pairwise: level l holds the sum of 2^l consecutive products.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { batch_a: View, batch_b: View, m: u32, n: u32, k: u32, count: u32 }
@group(0) @binding(0) var<storage, read> a: array<T>;
@group(0) @binding(1) var<storage, read> b: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

fn matrix_a(index: u32) -> u32 {
  var rest = index;
  var at = p.batch_a.offset;
  for (var r = p.batch_a.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.batch_a.dims[d / 4u][d % 4u];
    at += (rest % n) * p.batch_a.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn matrix_b(index: u32) -> u32 {
  var rest = index;
  var at = p.batch_b.offset;
  for (var r = p.batch_b.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.batch_b.dims[d / 4u][d % 4u];
    at += (rest % n) * p.batch_b.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let column = i % p.n;
  let row = (i / p.n) % p.m;
  let batch = i / (p.m * p.n);
  let at_a = matrix_a(batch) + row * p.k;
  let at_b = matrix_b(batch) + column;
  var level: array<T, 32>;
  for (var j = 0u; j < p.k; j++) {
    var sum = a[at_a + j] * b[at_b + j * p.n];
    var l = 0u;
    for (var carry = j; (carry & 1u) == 1u; carry >>= 1u) {
      sum = level[l] + sum;
      l++;
    }
    level[l] = sum;
  }
  var total = T();
  for (var l = 0u; l < 32u; l++) {
    if (((p.k >> l) & 1u) == 1u) { total = level[l] + total; }
  }
  y[i] = total;
}
