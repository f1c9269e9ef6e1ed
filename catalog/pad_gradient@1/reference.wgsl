// Each element sums the gradients of those that were copied from it, pairwise: along an axis of n elements, m with the margins,
// the edge and all beyond it, or the element and its mirror images.
alias T = f32;
struct Params { src: array<vec4<u32>, 2>, margin: array<vec4<u32>, 2>, to: array<vec4<u32>, 2>, rank: u32, mode: u32, count: u32 }
@group(0) @binding(0) var<storage, read> gradient: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

const EDGE = 1u;
const REFLECTION = 2u;

// Copies of coordinate c along axis d.
fn copies(c: u32, d: u32) -> u32 {
  let n = p.src[d / 4u][d % 4u];
  let m = p.to[d / 4u][d % 4u];
  let margin = p.margin[d / 4u][d % 4u];
  if (p.mode == EDGE) { return select(c + margin, m - 1u, c == n - 1u) - select(c + margin, 0u, c == 0u) + 1u; }
  if (p.mode == REFLECTION) { return 1u + select(0u, 1u, c > 0u && c <= margin) + select(0u, 1u, c < n - 1u && margin + 2u * (n - 1u) - c < m); }
  return 1u;
}

// The k-th of them, in order.
fn copy_at(c: u32, d: u32, k: u32) -> u32 {
  let n = p.src[d / 4u][d % 4u];
  let margin = p.margin[d / 4u][d % 4u];
  if (p.mode == EDGE) { return select(c + margin, 0u, c == 0u) + k; }
  if (p.mode == REFLECTION) {
    let mirrored = c > 0u && c <= margin;
    if (mirrored && k == 0u) { return margin - c; }
    if (k == select(0u, 1u, mirrored)) { return margin + c; }
    return margin + 2u * (n - 1u) - c;
  }
  return margin + c;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var c: array<u32, 8>;
  var rest = i;
  var total = 1u;
  for (var r = p.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.src[d / 4u][d % 4u];
    c[d] = rest % n;
    rest /= n;
    total *= copies(c[d], d);
  }
  var level: array<T, 32>;
  var terms = 0u;
  for (var j = 0u; j < total; j++) {
    var number = j;
    var at = 0u;
    var scale = 1u;
    for (var r = p.rank; r > 0u; r--) {
      let d = r - 1u;
      let k = copies(c[d], d);
      at += copy_at(c[d], d, number % k) * scale;
      number /= k;
      scale *= p.to[d / 4u][d % 4u];
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
