// One result a lane: the window over the channels of its group, summed pairwise: level l holds the sum of 2^l products.
alias T = f32;
struct Params { n: u32, c: u32, h: u32, w: u32, o: u32, r: u32, s: u32, has_bias: u32, groups: u32, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, to: vec4<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> weights: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let column = i % p.to.w;
  let row = (i / p.to.w) % p.to.z;
  let o = (i / (p.to.w * p.to.z)) % p.o;
  let n = i / (p.to.w * p.to.z * p.o);
  let depth = p.c / p.groups;
  let first = o / (p.o / p.groups) * depth;
  var level: array<T, 32>;
  var terms = 0u;
  for (var c = 0u; c < depth; c++) {
    for (var r = 0u; r < p.r; r++) {
      let v = i32(row * p.strides.x + r * p.dilations.x) - i32(p.padding.x);
      if (v < 0 || v >= i32(p.h)) { continue; }
      for (var s = 0u; s < p.s; s++) {
        let u = i32(column * p.strides.y + s * p.dilations.y) - i32(p.padding.z);
        if (u < 0 || u >= i32(p.w)) { continue; }
        var term = x[((n * p.c + first + c) * p.h + u32(v)) * p.w + u32(u)] * weights[((o * depth + c) * p.r + r) * p.s + s];
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
