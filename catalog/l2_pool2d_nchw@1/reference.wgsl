// Root of the sum of squares of a window, summed pairwise: level l holds the sum of 2^l.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, window: vec2<u32>, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let column = i % p.y.w;
  let row = (i / p.y.w) % p.y.z;
  let plane = i / (p.y.w * p.y.z);
  var level: array<T, 32>;
  var terms = 0u;
  for (var r = 0u; r < p.window.x; r++) {
    let v = i32(row * p.strides.x + r * p.dilations.x) - i32(p.padding.x);
    if (v < 0 || v >= i32(p.x.z)) { continue; }
    for (var c = 0u; c < p.window.y; c++) {
      let u = i32(column * p.strides.y + c * p.dilations.y) - i32(p.padding.z);
      if (u < 0 || u >= i32(p.x.w)) { continue; }
      let e = x[(plane * p.x.z + u32(v)) * p.x.w + u32(u)];
      var term = e * e;
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
  y[i] = sqrt(sum);
}
