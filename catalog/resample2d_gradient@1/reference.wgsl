// Each element sums the places that read it, by the part that each has of it, pairwise. Pixel centres are half a step in:
// column c of the gradient lies at (c + 0.5) / scale - 0.5 of y.
alias T = f32;
override LINEAR: u32;
struct Params { x: vec4<u32>, y: vec4<u32>, axes: vec2<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> gradient: array<T>;
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

// The part of element e in place c.
fn weight(e: u32, c: u32, n: u32, m: u32) -> f32 {
  let v = place(c, n, m);
  return select(0.0, 1.0 - v.part, v.low == e) + select(0.0, v.part, v.high == e);
}

// Places of an axis of m outside from..to have no part of element e.
fn from_place(e: u32, n: u32, m: u32) -> u32 {
  if (e == 0u) { return 0u; }
  if (LINEAR == 0u) {
    let v = scaled(e, m, n);
    return v.x + select(0u, 1u, v.y >= n - v.y);
  }
  return max(scaled(2u * e - 1u, m, 2u * n).x, 1u) - 1u;
}
fn to_place(e: u32, n: u32, m: u32) -> u32 {
  if (e == n - 1u) { return m; }
  if (LINEAR == 0u) { return from_place(e + 1u, n, m); }
  return min(m, scaled(2u * e + 3u, m, 2u * n).x + 1u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var c: vec4<u32>;
  var rest = i;
  for (var r = 4u; r > 0u; r--) {
    c[r - 1u] = rest % p.x[r - 1u];
    rest /= p.x[r - 1u];
  }
  let a = c[p.axes.x];
  let b = c[p.axes.y];
  let bottom = to_place(a, p.x[p.axes.x], p.y[p.axes.x]);
  let right = to_place(b, p.x[p.axes.y], p.y[p.axes.y]);
  var level: array<T, 32>;
  var terms = 0u;
  for (var row = from_place(a, p.x[p.axes.x], p.y[p.axes.x]); row < bottom; row++) {
    let down = weight(a, row, p.x[p.axes.x], p.y[p.axes.x]);
    c[p.axes.x] = row;
    for (var column = from_place(b, p.x[p.axes.y], p.y[p.axes.y]); column < right; column++) {
      c[p.axes.y] = column;
      var term = T(gradient[((c.x * p.y.y + c.y) * p.y.z + c.z) * p.y.w + c.w]) * (T(down) * T(weight(b, column, p.x[p.axes.y], p.y[p.axes.y])));
      var l = 0u;
      for (var carry = terms; (carry & 1u) == 1u; carry >>= 1u) {
        term = level[l] + term;
        l++;
      }
      level[l] = term;
      terms++;
    }
  }
  var sum = T();
  for (var l = 0u; l < 32u; l++) {
    if (((terms >> l) & 1u) == 1u) { sum = level[l] + sum; }
  }
  y[i] = sum;
}
