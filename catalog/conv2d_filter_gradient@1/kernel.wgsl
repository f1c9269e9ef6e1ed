// A workgroup an element of the filter: every lane sums each 64th product, then halves are joined.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, window: vec2<u32>, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, groups: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> gradient: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> part: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  let depth = p.x.y / p.groups;
  let s = i % p.window.y;
  let r = i / p.window.y % p.window.x;
  let o = i / (p.window.x * p.window.y * depth);
  let c = o / (p.y.y / p.groups) * depth + i / (p.window.x * p.window.y) % depth;
  let places = p.y.z * p.y.w;
  var sum = 0.0;
  if (i < p.count) {
    for (var k = lane; k < p.x.x * places; k += 64u) {
      let n = k / places;
      let place = k % places;
      let v = i32(place / p.y.w * p.strides.x + r * p.dilations.x) - i32(p.padding.x);
      let u = i32(place % p.y.w * p.strides.y + s * p.dilations.y) - i32(p.padding.z);
      if (v < 0 || v >= i32(p.x.z) || u < 0 || u >= i32(p.x.w)) { continue; }
      sum += f32(x[((n * p.x.y + c) * p.x.z + u32(v)) * p.x.w + u32(u)]) * f32(gradient[(n * p.y.y + o) * places + place]);
    }
  }
  part[lane] = sum;
  for (var half = 32u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) { part[lane] += part[lane + half]; }
  }
  if (lane == 0u && i < p.count) { y[i] = T(part[0]); }
}
