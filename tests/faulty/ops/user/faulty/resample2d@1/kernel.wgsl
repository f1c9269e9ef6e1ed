// Pixel centres are half a step in: column c of y lies at (c + 0.5) / scale - 0.5 of x.
alias T = f32;
override LINEAR: u32;
struct Params { x: vec4<u32>, y: vec4<u32>, axes: vec2<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
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
  var v: array<f32, 4>;
  for (var k = 0u; k < 4u; k++) {
    c[p.axes.x] = select(a.low, a.high, k >= 2u);
    c[p.axes.y] = select(b.low, b.high, (k & 1u) == 1u);
    v[k] = f32(x[((c.x * p.x.y + c.y) * p.x.z + c.z) * p.x.w + c.w]);
  }
  let upper = v[0] + (v[1] - v[0]) * f32(b.part);
  let lower = v[2] + (v[3] - v[2]) * f32(b.part);
  y[i] = T(upper + (lower - upper) * f32(a.part));
}
