// y[outer, k, inner] = x[outer, indices[k], inner]. An index has one word or, for 64 bits, two: low, high.
alias T = f32;
struct Params { inner: u32, size: u32, chosen: u32, words: u32, positive: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let inner = i % p.inner;
  let k = (i / p.inner) % p.chosen;
  let outer = i / (p.inner * p.chosen);
  var index = bitcast<i32>(indices[k * p.words]);
  if (p.positive == 1u) { index = i32(min(indices[k], p.size - 1u)); }
  if (p.words == 2u) {
    let high = bitcast<i32>(indices[k * 2u + 1u]);
    if (high != (index >> 31u)) { index = select(2147483647, -2147483647, high < 0); }
  }
  if (index < 0) { index += i32(p.size); }
  let row = u32(clamp(index, 0, i32(p.size) - 1));
  y[i] = x[(outer * p.size + row) * p.inner + inner];
}
