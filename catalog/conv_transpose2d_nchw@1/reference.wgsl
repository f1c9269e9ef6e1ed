// One result a lane: every tap of the filter that reaches it from a whole step of x, summed
// pairwise: level l holds the sum of 2^l products.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, filter_shape: vec4<u32>, has_bias: u32, groups: u32, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> weights: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let column = i % p.y.w;
  let row = (i / p.y.w) % p.y.z;
  let o = (i / (p.y.w * p.y.z)) % p.y.y;
  let n = i / (p.y.w * p.y.z * p.y.y);
  let depth = p.x.y / p.groups;
  let outputs = p.filter_shape.y;
  let first = o / outputs * depth;
  var level: array<T, 32>;
  var terms = 0u;
  for (var c = first; c < first + depth; c++) {
    for (var r = 0u; r < p.filter_shape.z; r++) {
      let v = i32(row + p.padding.x) - i32(r * p.dilations.x);
      if (v < 0 || u32(v) % p.strides.x != 0u || u32(v) / p.strides.x >= p.x.z) { continue; }
      for (var s = 0u; s < p.filter_shape.w; s++) {
        let u = i32(column + p.padding.z) - i32(s * p.dilations.y);
        if (u < 0 || u32(u) % p.strides.y != 0u || u32(u) / p.strides.y >= p.x.w) { continue; }
        var term = x[((n * p.x.y + c) * p.x.z + u32(v) / p.strides.x) * p.x.w + u32(u) / p.strides.y] * weights[((c * outputs + o % outputs) * p.filter_shape.z + r) * p.filter_shape.w + s];
        var l = 0u;
        for (var carry = terms; (carry & 1u) == 1u; carry >>= 1u) {
          term = level[l] + term;
          l++;
        }
        level[l] = term;
        terms++;
      }
    }
  }
  var sum = T();
  for (var l = 0u; l < 32u; l++) {
    if (((terms >> l) & 1u) == 1u) { sum = level[l] + sum; }
  }
  if (p.has_bias != 0u) { sum += bias[o]; }
  y[i] = sum;
}
