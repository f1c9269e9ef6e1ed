// x plus every update that means the element, these summed pairwise: level l holds the sum of 2^l.
alias T = f32;
struct Params { x: array<vec4<u32>, 2>, k: u32, slice: u32, words: u32, positive: u32, tuples: u32, slices: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

// The index k as a position below n: one word or, for 64 bits, low and high; negative ones count from the end, and
// those outside take the nearest element.
fn position(k: u32, n: u32) -> u32 {
  if (p.positive == 1u) { return min(indices[k], n - 1u); }
  var index = bitcast<i32>(indices[k * p.words]);
  if (p.words == 2u) {
    let high = bitcast<i32>(indices[k * 2u + 1u]);
    if (high != (index >> 31u)) { index = select(2147483647, -2147483647, high < 0); }
  }
  if (index < 0) { index += i32(n); }
  return u32(clamp(index, 0, i32(n) - 1));
}

// The slice of x that an index tuple means.
fn target_of(tuple: u32) -> u32 {
  var at = 0u;
  for (var d = 0u; d < p.k; d++) {
    let n = p.x[d / 4u][d % 4u];
    at = at * n + position(tuple * p.k + d, n);
  }
  return at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var level: array<T, 32>;
  var terms = 0u;
  for (var k = 0u; k < p.tuples; k++) {
    if (target_of(k) != i / p.slice) { continue; }
    var term = updates[k * p.slice + i % p.slice];
    var l = 0u;
    for (var carry = terms; (carry & 1u) == 1u; carry >>= 1u) {
      term = level[l] + term;
      l++;
    }
    level[l] = term;
    terms++;
  }
  var sum = T();
  for (var l = 0u; l < 32u; l++) {
    if (((terms >> l) & 1u) == 1u) { sum = level[l] + sum; }
  }
  y[i] = x[i] + sum;
}
