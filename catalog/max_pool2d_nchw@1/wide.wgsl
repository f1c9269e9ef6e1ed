// A workgroup a result: every lane keeps the greatest of each 64th element of the window, then halves are joined. Of equal
// elements, and of zeros with different signs, the first in the window stays.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, window: vec2<u32>, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> part: array<T, 64>;
var<workgroup> place: array<u32, 64>; // in the window, from 1; 0: none

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  let column = i % p.y.w;
  let row = (i / p.y.w) % p.y.z;
  let plane = i / (p.y.w * p.y.z);
  var best = T();
  var at = 0u;
  if (i < p.count) {
    for (var k = lane; k < p.window.x * p.window.y; k += 64u) {
      let v = i32(row * p.strides.x + k / p.window.y * p.dilations.x) - i32(p.padding.x);
      let u = i32(column * p.strides.y + k % p.window.y * p.dilations.y) - i32(p.padding.z);
      if (v < 0 || v >= i32(p.x.z) || u < 0 || u >= i32(p.x.w)) { continue; }
      let e = x[(plane * p.x.z + u32(v)) * p.x.w + u32(u)];
      if (at == 0u || e > best) {
        best = e;
        at = k + 1u;
      }
    }
  }
  part[lane] = best;
  place[lane] = at;
  for (var half = 32u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half && place[lane + half] != 0u) {
      let e = part[lane + half];
      let first = place[lane] == 0u || e > part[lane] || (e == part[lane] && place[lane + half] < place[lane]);
      if (first) {
        part[lane] = e;
        place[lane] = place[lane + half];
      }
    }
  }
  if (lane == 0u && i < p.count) { y[i] = part[0]; }
}
