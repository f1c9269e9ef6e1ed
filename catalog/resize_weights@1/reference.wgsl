// Row j: the part of every element at the place of j. Parts of elements beyond the ends go to the end, or are left out.
alias T = f32;
struct Params { n: u32, m: u32, transform: u32, mode: u32, nearest: u32, whole: u32, outside: u32, stretch: f32, normal: u32, scale: f32, a: f32, count: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<T>;
@group(0) @binding(1) var<uniform> p: Params;

// Where element j lies: behind element `low` by `part` of a step.
struct Place { low: i32, part: f32 }
fn ratio(above: i32, below: i32) -> Place {
  var low = above / below;
  if (above < low * below) { low -= 1; }
  return Place(low, f32(above - low * below) / f32(below));
}
fn place(j: i32) -> Place {
  let n = i32(p.n);
  let m = i32(p.m);
  if (p.transform == 4u) { return ratio(j * (n - 1), max(m - 1, 1)); }
  if (p.transform == 2u && m == 1) { return Place(0, 0.0); }
  if (p.whole == 1u) {
    if (p.transform == 3u) { return ratio(j * n, m); }
    return ratio((2 * j + 1) * n - m, 2 * m);
  }
  var at = (f32(j) + 0.5) / p.scale - 0.5;
  if (p.transform == 3u) { at = f32(j) / p.scale; }
  if (p.transform == 1u) { at += f32(n) * 0.5 * (1.0 - f32(m) / (f32(n) * p.scale)); }
  let low = floor(at);
  return Place(i32(low), at - low);
}

// The element that stands for a place.
fn near(v: Place) -> i32 {
  var up = v.part > 0.5;
  if (p.nearest == 1u) { up = v.part >= 0.5; }
  if (p.nearest == 2u) { up = false; }
  if (p.nearest == 3u) { up = v.part > 0.0; }
  return v.low + select(0, 1, up);
}

// The kernel at a distance: a hat, or Keys' cubic.
fn part(distance: f32) -> f32 {
  let d = abs(distance);
  if (p.mode == 1u) { return max(0.0, 1.0 - d); }
  if (d <= 1.0) { return ((p.a + 2.0) * d - (p.a + 3.0)) * d * d + 1.0; }
  if (d < 2.0) { return ((p.a * d - 5.0 * p.a) * d + 8.0 * p.a) * d - 4.0 * p.a; }
  return 0.0;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let own = i32(i % p.n);
  let last = i32(p.n) - 1;
  let v = place(i32(i / p.n));
  if (p.mode == 0u) {
    y[i] = T(select(0.0, 1.0, clamp(near(v), 0, last) == own));
    return;
  }
  let reach = i32(ceil(p.stretch * f32(p.mode)));
  var sum = 0.0;
  var total = 0.0;
  for (var k = -reach; k <= reach + 1; k++) {
    let at = v.low + k;
    if (p.outside == 1u && (at < 0 || at > last)) { continue; }
    let w = part((f32(k) - v.part) / p.stretch);
    total += w;
    if (clamp(at, 0, last) == own) { sum += w; }
  }
  if (p.normal == 1u) {
    sum /= total;
  }
  y[i] = T(sum);
}
