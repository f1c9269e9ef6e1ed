// y is x with, at every position, the updates that mean it added one after another.
alias T = f32;
struct Params { inner: u32, size: u32, length: u32, words: u32, positive: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

// The index k as a position below the size: one word or, for 64 bits, low and high; negative ones count from the end, and
// those outside take the nearest element.
fn position(k: u32) -> u32 {
  if (p.positive == 1u) { return min(indices[k], p.size - 1u); }
  var index = bitcast<i32>(indices[k * p.words]);
  if (p.words == 2u) {
    let high = bitcast<i32>(indices[k * 2u + 1u]);
    if (high != (index >> 31u)) { index = select(2147483647, -2147483647, high < 0); }
  }
  if (index < 0) { index += i32(p.size); }
  return u32(clamp(index, 0, i32(p.size) - 1));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let place = (i / p.inner) % p.size;
  let start = (i / (p.inner * p.size)) * p.length * p.inner + i % p.inner;
  var sum = x[i];
  for (var j = 0u; j < p.length; j++) {
    let k = start + j * p.inner;
    if (position(k) == place) { sum = sum + updates[k]; }
  }
  y[i] = sum;
}
