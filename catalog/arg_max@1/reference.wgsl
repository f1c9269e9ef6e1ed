// The first of the extreme elements, in order. A position has one word or, for 64 bits, two.
alias T = f32;
struct Params { inner: u32, length: u32, count: u32, words: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let base = (i / p.inner) * p.length * p.inner + i % p.inner;
  var best = x[base];
  var at = 0u;
  for (var j = 1u; j < p.length; j++) {
    let v = x[base + j * p.inner];
    if (v > best) {
      best = v;
      at = j;
    }
  }
  y[i * p.words] = at;
  if (p.words == 2u) { y[i * 2u + 1u] = 0u; }
}
