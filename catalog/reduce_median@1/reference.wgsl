// The least term that at least half of all terms do not exceed, and the least that more than half do not exceed: the same term
// where the length is odd, else half of each. NaN exceeds everything.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

fn kept_at(index: u32) -> u32 {
  var rest = index;
  var at = p.kept.offset;
  for (var r = p.kept.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.kept.dims[d / 4u][d % 4u];
    at += (rest % n) * p.kept.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn reduced_at(index: u32) -> u32 {
  var rest = index;
  var at = 0u;
  for (var r = p.reduced.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.reduced.dims[d / 4u][d % 4u];
    at += (rest % n) * p.reduced.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

// Unsigned numbers in the order of the values: both zeros equal, NaN last.
fn key(v: T) -> u32 {
  let bits = bitcast<u32>(f32(v));
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return 0xffffffffu; }
  return select(select(bits | 0x80000000u, ~bits, bits != magnitude), 0x80000000u, magnitude == 0u);
}

// The least key that `want` keys do not exceed, by halving the range of keys.
fn least(base: u32, want: u32) -> u32 {
  var low = 0u;
  var high = 0xffffffffu;
  while (low < high) {
    let half = low + (high - low) / 2u;
    var n = 0u;
    for (var j = 0u; j < p.length; j++) { n += select(0u, 1u, key(x[base + reduced_at(j)]) <= half); }
    if (n >= want) { high = half; } else { low = half + 1u; }
  }
  return low;
}

// The least term with the key: the result is a term and not made of its bits, so that it moves with it; of zeros +0.
fn term(base: u32, k: u32) -> T {
  var best = T(0);
  var found = false;
  for (var j = 0u; j < p.length; j++) {
    let v = x[base + reduced_at(j)];
    if (key(v) == k) {
      best = select(v, min(best, v), found);
      found = true;
    }
  }
  return best + T(0);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let base = kept_at(i);
  let low = term(base, least(base, (p.length + 1u) / 2u));
  if ((p.length & 1u) == 1u) { y[i] = low; } else { y[i] = low * T(0.5) + term(base, least(base, p.length / 2u + 1u)) * T(0.5); }
}
