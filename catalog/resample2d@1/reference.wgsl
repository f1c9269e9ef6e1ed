// Pixel centres are half a step in: column c of y lies at (c + 0.5) / scale - 0.5 of x.
alias T = f32;
override LINEAR: u32;
struct Params { x: vec4<u32>, y: vec4<u32>, axes: vec2<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

// Quotient and remainder of c * n / m, also where the product does not fit: then bit by bit.
fn scaled(c: u32, n: u32, m: u32) -> vec2<u32> {
  if (c == 0u || n <= 0xffffffffu / c) { return vec2<u32>(c * n / m, c * n % m); }
  var q = 0u;
  var r = 0u;
  for (var bit = 32u; bit > 0u; bit--) {
    q *= 2u;
    r *= 2u;
    if (r >= m) {
      r -= m;
      q++;
    }
    if (((c >> (bit - 1u)) & 1u) == 0u) { continue; }
    q += n / m;
    r += n % m;
    if (r >= m) {
      r -= m;
      q++;
    }
  }
  return vec2<u32>(q, r);
}

// Along an axis of n elements stretched to m: the two nearest and how far it is to the second.
struct Place { low: u32, high: u32, part: f32 }
fn place(c: u32, n: u32, m: u32) -> Place {
  if (LINEAR == 0u) {
    let v = scaled(2u * c + 1u, n, 2u * m); // the nearest centre, of two as near the lower
    let near = min(v.x - select(0u, 1u, v.y == 0u), n - 1u);
    return Place(near, near, 0.0);
  }
  let v = scaled(2u * c + 1u, n, 2u * m); // (c + 0.5) n / m, half a step too far
  if (v.y < m && v.x == 0u) { return Place(0u, 0u, 0.0); }
  let low = v.x - select(0u, 1u, v.y < m);
  if (low >= n - 1u) { return Place(n - 1u, n - 1u, 0.0); }
  return Place(low, low + 1u, f32(select(v.y - m, v.y + m, v.y < m)) / f32(2u * m));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var c: vec4<u32>;
  var rest = i;
  for (var r = 4u; r > 0u; r--) {
    c[r - 1u] = rest % p.y[r - 1u];
    rest /= p.y[r - 1u];
  }
  let a = place(c[p.axes.x], p.x[p.axes.x], p.y[p.axes.x]);
  let b = place(c[p.axes.y], p.x[p.axes.y], p.y[p.axes.y]);
  var v: array<T, 4>;
  for (var k = 0u; k < 4u; k++) {
    c[p.axes.x] = select(a.low, a.high, k >= 2u);
    c[p.axes.y] = select(b.low, b.high, (k & 1u) == 1u);
    v[k] = T(x[((c.x * p.x.y + c.y) * p.x.z + c.z) * p.x.w + c.w]);
  }
  let upper = v[0] + (v[1] - v[0]) * T(b.part);
  let lower = v[2] + (v[3] - v[2]) * T(b.part);
  y[i] = T(upper + (lower - upper) * T(a.part));
}
