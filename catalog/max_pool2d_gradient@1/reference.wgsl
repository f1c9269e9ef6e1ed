// choose finds for every window where its greatest element lies in the plane of x, the first of equal ones; main sums, for
// every element, the gradients of the windows that chose it, pairwise: level l holds the sum of 2^l.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, window: vec2<u32>, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, windows: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> gradient: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<storage, read_write> chosen: array<i32>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn choose(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.windows) { return; }
  let column = i % p.y.w;
  let row = (i / p.y.w) % p.y.z;
  let plane = i / (p.y.w * p.y.z);
  var best = T();
  var at = -1i;
  for (var r = 0u; r < p.window.x; r++) {
    let v = i32(row * p.strides.x + r * p.dilations.x) - i32(p.padding.x);
    if (v < 0 || v >= i32(p.x.z)) { continue; }
    for (var c = 0u; c < p.window.y; c++) {
      let u = i32(column * p.strides.y + c * p.dilations.y) - i32(p.padding.z);
      if (u < 0 || u >= i32(p.x.w)) { continue; }
      let e = T(x[(plane * p.x.z + u32(v)) * p.x.w + u32(u)]);
      if (at < 0 || e > best) {
        best = e;
        at = v * i32(p.x.w) + u;
      }
    }
  }
  chosen[i] = at;
}

// The windows that may hold an element along one axis: at is its place behind the padding. Window o holds it when
// at - o * stride is a multiple of the dilation, at most (window - 1) times. This is the first o that is not too early.
fn first_window(at: u32, window: u32, stride: u32, dilation: u32) -> u32 {
  let reach = (window - 1u) * dilation;
  if (at <= reach) { return 0u; }
  return (at - reach + stride - 1u) / stride;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let u = i % p.x.w + p.padding.z;
  let v = (i / p.x.w) % p.x.z + p.padding.x;
  let plane = i / (p.x.w * p.x.z);
  let mine = i32(i % (p.x.w * p.x.z));
  var level: array<T, 32>;
  var terms = 0u;
  let rows = min(v / p.strides.x + 1u, p.y.z);
  let columns = min(u / p.strides.y + 1u, p.y.w);
  for (var o = first_window(v, p.window.x, p.strides.x, p.dilations.x); o < rows; o++) {
    for (var q = first_window(u, p.window.y, p.strides.y, p.dilations.y); q < columns; q++) {
      let at = (plane * p.y.z + o) * p.y.w + q;
      if (chosen[at] != mine) { continue; }
      var term = gradient[at];
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
