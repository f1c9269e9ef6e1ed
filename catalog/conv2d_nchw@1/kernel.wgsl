// One result a lane: the part of the window that lies in x, over the channels of its group.
alias T = f32;
struct Params { n: u32, c: u32, h: u32, w: u32, o: u32, r: u32, s: u32, has_bias: u32, groups: u32, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, to: vec4<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> weights: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

// Taps first..end of a window that starts at `start`, padding included, lie in n elements.
fn first_tap(start: u32, padding: u32, dilation: u32) -> u32 {
  return select(0u, (padding - start + dilation - 1u) / dilation, start < padding);
}
fn end_tap(start: u32, n: u32, taps: u32, padding: u32, dilation: u32) -> u32 {
  return select(0u, min(taps, (n + padding - 1u - start) / dilation + 1u), start < n + padding);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let left = i % p.to.w * p.strides.y;
  let top = (i / p.to.w) % p.to.z * p.strides.x;
  let o = (i / (p.to.w * p.to.z)) % p.o;
  let n = i / (p.to.w * p.to.z * p.o);
  let depth = p.c / p.groups;
  let first = o / (p.o / p.groups) * depth;
  let r0 = first_tap(top, p.padding.x, p.dilations.x);
  let r1 = end_tap(top, p.h, p.r, p.padding.x, p.dilations.x);
  let s0 = first_tap(left, p.padding.z, p.dilations.y);
  let s1 = end_tap(left, p.w, p.s, p.padding.z, p.dilations.y);
  var sum = f32(0);
  for (var c = 0u; c < depth; c++) {
    for (var r = r0; r < r1; r++) {
      var at = ((n * p.c + first + c) * p.h + top + r * p.dilations.x - p.padding.x) * p.w + left + s0 * p.dilations.y - p.padding.z;
      let row = ((o * depth + c) * p.r + r) * p.s;
      for (var s = s0; s < s1; s++) {
        sum += f32(x[at]) * f32(weights[row + s]);
        at += p.dilations.y;
      }
    }
  }
  if (p.has_bias != 0u) { sum += f32(bias[o]); }
  y[i] = T(sum);
}
