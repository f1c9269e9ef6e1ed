// Each element sums the places that read it, by the part that each has of it. Pixel centres are half a step in:
// column c of the gradient lies at (c + 0.5) / scale - 0.5 of y.
alias T = f32;
override LINEAR: u32;
struct Params { x: vec4<u32>, y: vec4<u32>, axes: vec2<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> gradient: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

// Along an axis of n elements stretched to m: the two nearest and how far it is to the second.
struct Place { low: u32, high: u32, part: f32 }
fn place(c: u32, n: u32, m: u32) -> Place {
  if (LINEAR == 0u) {
    let near = min(c * n / m, n - 1u);
    return Place(near, near, 0.0);
  }
  let v = clamp((f32(c) + 0.5) * f32(n) / f32(m) - 0.5, 0.0, f32(n - 1u));
  let low = u32(v);
  return Place(low, min(low + 1u, n - 1u), v - f32(low));
}

// The part of element e in place c.
fn weight(e: u32, c: u32, n: u32, m: u32) -> f32 {
  let v = place(c, n, m);
  return select(0.0, 1.0 - v.part, v.low == e) + select(0.0, v.part, v.high == e);
}

// Places of an axis of m outside from..to have no part of element e.
fn from_place(e: u32, n: u32, m: u32) -> u32 {
  if (LINEAR == 0u) { return (e * m + n - 1u) / n; }
  return u32(max((f32(e) - 0.5) * f32(m) / f32(n) - 1.5, 0.0));
}
fn to_place(e: u32, n: u32, m: u32) -> u32 {
  if (e == n - 1u) { return m; }
  if (LINEAR == 0u) { return ((e + 1u) * m + n - 1u) / n; }
  return min(m, u32((f32(e) + 1.5) * f32(m) / f32(n) + 1.5));
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
  var sum = f32(0);
  for (var row = from_place(a, p.x[p.axes.x], p.y[p.axes.x]); row < bottom; row++) {
    let down = weight(a, row, p.x[p.axes.x], p.y[p.axes.x]);
    c[p.axes.x] = row;
    for (var column = from_place(b, p.x[p.axes.y], p.y[p.axes.y]); column < right; column++) {
      c[p.axes.y] = column;
      sum += f32(gradient[((c.x * p.y.y + c.y) * p.y.z + c.z) * p.y.w + c.w]) * (f32(down) * f32(weight(b, column, p.x[p.axes.y], p.y[p.axes.y])));
    }
  }
  y[i] = T(sum);
}
