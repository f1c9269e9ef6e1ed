// Each element of y takes in the updates along the axis of the indices that mean it, in order.
alias T = f32;
struct Params { x: array<vec4<u32>, 2>, i: array<vec4<u32>, 2>, axis: u32, rank: u32, inner: u32, length: u32, reduction: u32, words: u32, positive: u32, count: u32 }
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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var rest = i;
  var at = 0u;
  var scale = 1u;
  var inside = true;
  var place = 0u;
  for (var r = p.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.x[d / 4u][d % 4u];
    let m = p.i[d / 4u][d % 4u];
    let c = rest % n;
    rest /= n;
    if (d == p.axis) { place = c; } else {
      inside = inside && c < m;
      at += c * scale;
    }
    scale *= m;
  }
  var value = x[i];
  let n = p.x[p.axis / 4u][p.axis % 4u];
  for (var j = 0u; inside && j < p.length; j++) {
    let k = at + j * p.inner;
    if (position(k, n) != place) { continue; }
    if (p.reduction == 0u) { value *= updates[k]; }
    if (p.reduction == 1u) { value = min(value, updates[k]); }
    if (p.reduction == 2u) { value = max(value, updates[k]); }
  }
  y[i] = value;
}
