// The terms with (length - 1) / 2 and with length / 2 others before them in the order of (value, position), NaN last: the same
// term where the length is odd, else half of each.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

fn kept_at(index: u32) -> u32 {
  var rest = index;
  var at = p.kept.offset;
  for (var r = p.kept.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.kept.dims[d / 4u][d % 4u];
    at += (rest % n) * p.kept.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn reduced_at(index: u32) -> u32 {
  var rest = index;
  var at = 0u;
  for (var r = p.reduced.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.reduced.dims[d / 4u][d % 4u];
    at += (rest % n) * p.reduced.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn before(a: T, i: u32, b: T, j: u32) -> bool {
  let a_nan = a != a;
  let b_nan = b != b;
  if (a_nan != b_nan) { return b_nan; }
  return a < b || (!(b < a) && i < j);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let base = kept_at(i);
  var low = T();
  var high = T();
  for (var j = 0u; j < p.length; j++) {
    let candidate = x[base + reduced_at(j)];
    var rank = 0u;
    for (var k = 0u; k < p.length; k++) {
      if (before(x[base + reduced_at(k)], k, candidate, j)) { rank++; }
    }
    if (rank == (p.length - 1u) / 2u) { low = candidate; }
    if (rank == p.length / 2u) { high = candidate; }
  }
  if ((p.length & 1u) == 1u) { y[i] = low; } else { y[i] = low * T(0.5) + high * T(0.5); }
}
