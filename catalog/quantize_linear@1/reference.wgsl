// Saturated between low and high, the ends of the dtype.
alias T = f32;
alias Q = i32;
struct Params { x: array<vec4<u32>, 2>, blocks: array<vec4<u32>, 2>, rank: u32, low: f32, high: f32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scales: array<T>;
@group(0) @binding(2) var<storage, read> zero_point: array<Q>;
@group(0) @binding(3) var<storage, read_write> y: array<Q>;
@group(0) @binding(4) var<uniform> p: Params;

// Which scale an element takes: blocks divide every dimension.
fn block(index: u32) -> u32 {
  var rest = index;
  var at = 0u;
  var scale = 1u;
  for (var r = p.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.x[d / 4u][d % 4u];
    let m = p.blocks[d / 4u][d % 4u];
    at += (rest % n) / (n / m) * scale;
    rest /= n;
    scale *= m;
  }
  return at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let k = block(i);
  let v = round(f32(x[i]) / f32(scales[k])) + f32(zero_point[k]);
  if (v >= p.high) {
    y[i] = Q(i32(p.high - 1.0));
  } else {
    y[i] = Q(i32(max(v, p.low)));
  }
}
