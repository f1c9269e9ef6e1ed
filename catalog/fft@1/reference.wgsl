// y[k] is the sum of x[j] exp(-2 pi i j k / n), with + in the exponent for the inverse, divided by nothing, the root of n, or n. Sums are pairwise: level l
// of a binary counter holds the sum of 2^l consecutive terms.
struct Params { n: u32, inverse: u32, norm: u32, count: u32 } // norm: 0 nothing, 1 the root of n, 2 n
@group(0) @binding(0) var<storage, read> x: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2<f32>>;
@group(0) @binding(2) var<uniform> p: Params;

// exp(2 pi i k / n), as an eighth of a turn times the rest: so every root is rounded, as is each of the products that a transform
// in stages has in its place. Of the rest the octant comes by integers, its angle, as a part f of an eighth, by polynomials. Where
// one f32 does not hold a coefficient well enough, a second one is added.
fn root(k: u32, n: u32) -> vec2<f32> {
  let eighths = k * 8u + select(7u * n, 0u, k * 8u >= n) - select(0u, n, k * 8u >= n);
  let octant = eighths / n;
  let rest = eighths - octant * n;
  let f = f32(select(rest, n - rest, (octant & 1u) == 1u)) / f32(n);
  let g = f * f;
  let s_rest = g * -1.43131129e-09 + g * g * (0.00249039452 + g * (-3.65762025e-05 + g * (3.13361681e-07 + g * (-1.75724768e-09))));
  let s = f * 0.785398185 + f * (-2.18556941e-08 + (g * -0.0807455108 + s_rest));
  let c_rest = g * -9.07411213e-09 + g * g * (4.71880979e-10 + g * (-0.000325991889 + g * (3.59086039e-06 + g * (-2.46113689e-08 + g * 1.15011591e-10))));
  let c = 1.0 + (g * -0.308425128 + (g * g * 0.0158543438 + c_rest));
  let swapped = octant == 1u || octant == 2u || octant == 5u || octant == 6u;
  let near = select(vec2<f32>(c, s), vec2<f32>(s, c), swapped);
  let a = vec2<f32>(select(near.x, -near.x, octant >= 2u && octant < 6u), select(near.y, -near.y, octant >= 4u));
  let b = vec2<f32>(a.x - a.y, a.x + a.y);
  return b * 0.70710677 + b * 1.21016175e-8;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let k = i % p.n;
  let base = i - k;
  var level: array<vec2<f32>, 32>;
  var at = 0u; // j k modulo n
  for (var j = 0u; j < p.n; j++) {
    let w = root(at, p.n);
    at += k;
    at -= select(0u, p.n, at >= p.n);
    let turned = vec2<f32>(w.x, select(-w.y, w.y, p.inverse == 1u));
    let v = x[base + j];
    var sum = vec2<f32>(v.x * turned.x - v.y * turned.y, v.x * turned.y + v.y * turned.x);
    var l = 0u;
    for (var carry = j; (carry & 1u) == 1u; carry >>= 1u) {
      sum = level[l] + sum;
      l++;
    }
    level[l] = sum;
  }
  var total = vec2<f32>();
  for (var l = 0u; l < 32u; l++) {
    if (((p.n >> l) & 1u) == 1u) { total = level[l] + total; }
  }
  if (p.norm == 1u) { total = total / sqrt(f32(p.n)); }
  if (p.norm == 2u) { total = total / f32(p.n); }
  y[i] = select(total - total, total, abs(total) <= vec2<f32>(3.4028234663852886e38));
}
