// Mixed radix in the order of Stockham: `roots` makes the n-th roots of one, then each turn of `stage` joins `radix` transforms
// of length `done` into one, a lane one element. A prime factor is a radix of its own, done by its sum.
struct Params { n: u32, inverse: u32, scale: f32, count: u32, radix: u32, done: u32, stage: u32, stages: u32 }
@group(0) @binding(0) var<storage, read> x: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> unit: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> even: array<vec2<f32>>; // the source of even stages from 2 on
@group(0) @binding(4) var<storage, read_write> odd: array<vec2<f32>>;
@group(0) @binding(5) var<uniform> p: Params;
@group(0) @binding(6) var<uniform> turn: Params;

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

@compute @workgroup_size(256)
fn roots(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let k = id.y * (groups.x * 256u) + id.x;
  if (k >= p.n) { return; }
  let w = root(k, p.n);
  unit[k] = vec2<f32>(w.x, select(-w.y, w.y, p.inverse == 1u));
}

fn source(at: u32) -> vec2<f32> {
  if (turn.stage == 0u) { return x[at]; }
  if ((turn.stage & 1u) == 1u) { return odd[at]; }
  return even[at];
}

@compute @workgroup_size(256)
fn stage(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= turn.count) { return; }
  let out = i % turn.n;
  let span = turn.done * turn.radix;
  let e = out % span;
  let first = i - out + (out / span) * turn.done + e % turn.done;
  let gap = turn.n / turn.radix;
  let step = e * (turn.n / span);
  var at = 0u;
  var total = vec2<f32>();
  for (var t = 0u; t < turn.radix; t += 32u) { // in parts, so that rounding does not grow with a large prime
    var sum = vec2<f32>();
    for (var q = t; q < min(t + 32u, turn.radix); q++) {
      let v = source(first + q * gap);
      let w = unit[at];
      sum += vec2<f32>(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
      at += step;
      at -= select(0u, turn.n, at >= turn.n);
    }
    total += sum;
  }
  if (turn.stage + 1u == turn.stages) {
    total = total * turn.scale;
    y[i] = select(total - total, total, abs(total) <= vec2<f32>(3.4028234663852886e38));
  } else if ((turn.stage & 1u) == 1u) { even[i] = total; } else { odd[i] = total; }
}
