// Bluestein: with the chirp c[j] = exp(-pi i j j / n), y[k] is c[k] times the convolution of x c with the conjugate chirp, and a convolution is
// three transforms of a power of two, m. The rows of x and, as one more row, the chirp are transformed in turns, in the order of Stockham.
struct Params { n: u32, m: u32, inverse: u32, rows: u32, stages: u32, scale: f32 }
struct Turn { radix: u32, done: u32, side: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> unit: array<vec2<f32>>; // exp(-2 pi i k / m)
@group(0) @binding(3) var<storage, read_write> chirp: array<vec2<f32>>; // of length n; for the inverse its conjugate
@group(0) @binding(4) var<storage, read_write> even: array<vec2<f32>>; // rows + 1 rows of length m, as odd
@group(0) @binding(5) var<storage, read_write> odd: array<vec2<f32>>;
@group(0) @binding(6) var<uniform> p: Params;
@group(0) @binding(7) var<uniform> turn: Turn;

// exp(2 pi i k / n): the octant by integers, the rest of the angle, as a part of an eighth of a turn, by polynomials.
fn root(k: u32, n: u32) -> vec2<f32> {
  let octant = k * 8u / n;
  let rest = k * 8u - octant * n;
  let f = f32(select(rest, n - rest, (octant & 1u) == 1u)) / f32(n);
  let g = f * f;
  let s = f * (0.78539816339 + g * (-0.08074551219 + g * (0.00249039457 + g * (-0.0000365762042 + g * 0.000000313361689))));
  let c = 1.0 + g * (-0.30842513753 + g * (0.01585434424 + g * (-0.000325991887 + g * (0.00000359086045 + g * -0.0000000246113663))));
  let swapped = octant == 1u || octant == 2u || octant == 5u || octant == 6u;
  let a = select(vec2<f32>(c, s), vec2<f32>(s, c), swapped);
  return vec2<f32>(select(a.x, -a.x, octant >= 2u && octant < 6u), select(a.y, -a.y, octant >= 4u));
}

// j j modulo n, by doubling and adding.
fn square(j: u32, n: u32) -> u32 {
  var r = 0u;
  for (var bit = 32u - countLeadingZeros(j); bit > 0u; bit--) {
    r *= 2u;
    r -= select(0u, n, r >= n);
    if (((j >> (bit - 1u)) & 1u) == 1u) {
      r += j;
      r -= select(0u, n, r >= n);
    }
  }
  return r;
}

fn product(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> { return vec2<f32>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

@compute @workgroup_size(256)
fn prepare(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let k = id.y * (groups.x * 256u) + id.x;
  if (k >= p.m) { return; }
  let w = root(k, p.m);
  unit[k] = vec2<f32>(w.x, -w.y);
  if (k < p.n) {
    let c = root(square(k, 2u * p.n), 2u * p.n);
    chirp[k] = vec2<f32>(c.x, select(-c.y, c.y, p.inverse == 1u));
  }
}

// Rows of x times the chirp, then zeros; the last row is the conjugate chirp both ways from 0, divided by m.
@compute @workgroup_size(256)
fn load(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= (p.rows + 1u) * p.m) { return; }
  let row = i / p.m;
  let j = i % p.m;
  var v = vec2<f32>();
  if (row < p.rows) {
    if (j < p.n) { v = product(x[row * p.n + j], chirp[j]); }
  } else if (min(j, p.m - j) < p.n) {
    let c = chirp[min(j, p.m - j)];
    v = vec2<f32>(c.x, -c.y) / f32(p.m);
  }
  even[i] = v;
}

@compute @workgroup_size(256)
fn stage(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= turn.count) { return; }
  let out = i % p.m;
  let span = turn.done * turn.radix;
  let e = out % span;
  let first = i - out + (out / span) * turn.done + e % turn.done;
  let gap = p.m / turn.radix;
  let step = e * (p.m / span);
  var at = 0u;
  var sum = vec2<f32>();
  for (var q = 0u; q < turn.radix; q++) {
    var v = vec2<f32>();
    if (turn.side == 0u) { v = even[first + q * gap]; } else { v = odd[first + q * gap]; }
    sum += product(v, unit[at]);
    at = (at + step) % p.m;
  }
  if (turn.side == 0u) { odd[i] = sum; } else { even[i] = sum; }
}

// The conjugate of the product, whose transform is the conjugate of the convolution.
@compute @workgroup_size(256)
fn multiply(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.rows * p.m) { return; }
  let other = p.rows * p.m + i % p.m;
  if ((p.stages & 1u) == 0u) {
    let v = product(even[i], even[other]);
    even[i] = vec2<f32>(v.x, -v.y);
  } else {
    let v = product(odd[i], odd[other]);
    odd[i] = vec2<f32>(v.x, -v.y);
  }
}

@compute @workgroup_size(256)
fn finish(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.rows * p.n) { return; }
  let k = i % p.n;
  let v = even[i / p.n * p.m + k];
  let total = product(vec2<f32>(v.x, -v.y), chirp[k]) * p.scale;
  y[i] = select(total - total, total, abs(total) <= vec2<f32>(3.4028234663852886e38));
}
