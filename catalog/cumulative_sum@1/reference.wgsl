// Element i sums the terms of its own row up to itself.
alias T = f32;
struct Params { inner: u32, length: u32, exclusive: u32, reversed: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let place = (i / p.inner) % p.length;
  let base = i - place * p.inner;
  let turned = select(place, p.length - 1u - place, p.reversed != 0u);
  let terms = turned + select(1u, 0u, p.exclusive != 0u);
  var sum = T();
  for (var j = 0u; j < terms; j++) {
    let v = x[base + select(j, p.length - 1u - j, p.reversed != 0u) * p.inner];
    sum = sum + v;
  }
  y[i] = sum;
}
