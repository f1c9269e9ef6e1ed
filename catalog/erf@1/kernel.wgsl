// Below 1 the series of Abramowitz and Stegun 7.1.6, above it the continued fraction 7.1.14 of erfc,
// each with enough terms for f32.
alias T = f32;
struct Params { count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

fn series(v: f32) -> f32 {
  let s = v * v * 2.0;
  var term = 1.0;
  var sum = 1.0;
  for (var n = 1u; n < 14u; n++) {
    term *= s / f32(2u * n + 1u);
    sum += term;
  }
  return 1.1283791670955126 * v * exp(-v * v) * sum;
}

fn fraction(a: f32) -> f32 {
  var f = a;
  for (var n = 40u; n > 0u; n--) { f = a + f32(n) * 0.5 / f; }
  return 1.0 - exp(-a * a) * 0.5641895835477563 / f;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let v = f32(x[i]);
  let a = abs(v);
  var r = v;
  if (a < 1.0) { r = series(v); } else if (a < 4.0) { r = sign(v) * fraction(a); } else if (a >= 4.0) { r = sign(v); }
  y[i] = T(r);
}
