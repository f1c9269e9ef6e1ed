// y begins as x, and every update is added by compare and exchange, in whatever order they come.
alias T = f32;
struct Params { inner: u32, size: u32, length: u32, words: u32, positive: u32, count: u32, updates: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<atomic<u32>>;
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

@compute @workgroup_size(256)
fn begin(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i < p.count) { atomicStore(&y[i], bitcast<u32>(x[i])); }
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let k = id.y * (groups.x * 256u) + id.x;
  if (k >= p.updates) { return; }
  let at = (k / (p.inner * p.length)) * p.size * p.inner + k % p.inner + position(k) * p.inner;
  let value = updates[k];
  var old = atomicLoad(&y[at]);
  loop {
    let was = atomicCompareExchangeWeak(&y[at], old, bitcast<u32>(bitcast<f32>(old) + value));
    if (was.exchanged) { break; }
    old = was.old_value;
  }
}
