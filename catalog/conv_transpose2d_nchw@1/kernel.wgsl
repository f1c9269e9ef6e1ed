// One result a lane: the places of x that reach it, each by one tap of the filter.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, filter_shape: vec4<u32>, has_bias: u32, groups: u32, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> weights: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

// The first place of x that reaches at with a tap below n.
fn first_place(at: u32, n: u32, stride: u32, dilation: u32) -> u32 {
  let reach = (n - 1u) * dilation;
  if (n == 0u || at <= reach) { return 0u; }
  return (at - reach + stride - 1u) / stride;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let u = i % p.y.w + p.padding.z;
  let v = (i / p.y.w) % p.y.z + p.padding.x;
  let o = (i / (p.y.w * p.y.z)) % p.y.y;
  let n = i / (p.y.w * p.y.z * p.y.y);
  let depth = p.x.y / p.groups;
  let outputs = p.filter_shape.y;
  let first = o / outputs * depth;
  let top = first_place(v, p.filter_shape.z, p.strides.x, p.dilations.x);
  let bottom = select(min(v / p.strides.x + 1u, p.x.z), 0u, p.filter_shape.z == 0u);
  let left = first_place(u, p.filter_shape.w, p.strides.y, p.dilations.y);
  let right = select(min(u / p.strides.y + 1u, p.x.w), 0u, p.filter_shape.w == 0u);
  var sum = f32(0);
  for (var c = first; c < first + depth; c++) {
    for (var row = top; row < bottom; row++) {
      let r = v - row * p.strides.x;
      if (r % p.dilations.x != 0u) { continue; }
      for (var column = left; column < right; column++) {
        let s = u - column * p.strides.y;
        if (s % p.dilations.y != 0u) { continue; }
        let a = f32(x[((n * p.x.y + c) * p.x.z + row) * p.x.w + column]);
        sum += a * f32(weights[((c * outputs + o % outputs) * p.filter_shape.z + r / p.dilations.x) * p.filter_shape.w + s / p.dilations.y]);
      }
    }
  }
  if (p.has_bias != 0u) { sum += f32(bias[o]); }
  y[i] = T(sum);
}
