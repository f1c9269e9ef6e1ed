// One element a lane: the gradients of the windows that hold it, pairwise: level l holds the sum of 2^l of them.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, window: vec2<u32>, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, mean: u32, count: u32 }
@group(0) @binding(0) var<storage, read> gradient: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

// The windows that hold an element along one axis: at is its place behind the padding. Window o holds it when
// at - o * stride is a multiple of the dilation, at most (window - 1) times. This is the first o that is not too early.
fn first_window(at: u32, window: u32, stride: u32, dilation: u32) -> u32 {
  let reach = (window - 1u) * dilation;
  if (at <= reach) { return 0u; }
  return (at - reach + stride - 1u) / stride;
}

// How many elements of a window lie in x, along one axis.
fn elements(o: u32, n: u32, window: u32, stride: u32, dilation: u32, padding: u32) -> u32 {
  let start = o * stride;
  var low = 0u;
  if (start < padding) { low = (padding - start + dilation - 1u) / dilation; }
  if (start >= n + padding) { return 0u; }
  return min(window, (n + padding - 1u - start) / dilation + 1u) - min(low, min(window, (n + padding - 1u - start) / dilation + 1u));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let u = i % p.x.w + p.padding.z;
  let v = (i / p.x.w) % p.x.z + p.padding.x;
  let plane = i / (p.x.w * p.x.z);
  var level: array<T, 32>;
  var terms = 0u;
  let rows = min(v / p.strides.x + 1u, p.y.z);
  let columns = min(u / p.strides.y + 1u, p.y.w);
  for (var o = first_window(v, p.window.x, p.strides.x, p.dilations.x); o < rows; o++) {
    if ((v - o * p.strides.x) % p.dilations.x != 0u) { continue; }
    for (var q = first_window(u, p.window.y, p.strides.y, p.dilations.y); q < columns; q++) {
      if ((u - q * p.strides.y) % p.dilations.y != 0u) { continue; }
      var term = T(gradient[(plane * p.y.z + o) * p.y.w + q]);
      if (p.mean == 1u) {
        term /= T(max(elements(o, p.x.z, p.window.x, p.strides.x, p.dilations.x, p.padding.x) * elements(q, p.x.w, p.window.y, p.strides.y, p.dilations.y, p.padding.z), 1u));
      }
      var l = 0u;
      for (var carry = terms; (carry & 1u) == 1u; carry >>= 1u) {
        term = level[l] + term;
        l++;
      }
      level[l] = term;
      terms++;
    }
  }
  var sum = T();
  for (var l = 0u; l < 32u; l++) {
    if (((terms >> l) & 1u) == 1u) { sum = level[l] + sum; }
  }
  y[i] = sum;
}
