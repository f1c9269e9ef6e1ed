// A product of matrices that are never written out: rows are the filters of a group, columns the places of y in all images,
// the sum goes over the channels of the group and the window. Tiles of 64 x 64 results a workgroup, 4 x 4 a lane, over
// slices of 16 terms in workgroup memory. R and S are constants, since every element read needs a division by them.
alias T = f32;
override R: u32;
override S: u32;
struct Params { n: u32, c: u32, h: u32, w: u32, o: u32, has_bias: u32, groups: u32, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, to: vec4<u32> }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> weights: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

const TILE = 64u;
const SLICE = 16u;
var<workgroup> tile_a: array<f32, 1024>; // SLICE x TILE: term, filter
var<workgroup> tile_b: array<f32, 1024>; // SLICE x TILE: term, place

@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) lane: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let part = group.z % p.groups;
  let filters = p.o / p.groups;
  let depth = p.c / p.groups;
  let terms = depth * R * S;
  let places = p.to.z * p.to.w;
  let row0 = group.y * TILE;
  let column0 = (group.z / p.groups * groups.x + group.x) * TILE;
  // What a lane reads of x lies under one place of y.
  let column = column0 + index % TILE;
  let inside = column < p.n * places;
  let place = column % places;
  let top = i32(place / p.to.w * p.strides.x) - i32(p.padding.x);
  let left = i32(place % p.to.w * p.strides.y) - i32(p.padding.z);
  let plane = (column / places * p.c + part * depth) * p.h;
  var sum: array<vec4<f32>, 4>;
  for (var k0 = 0u; k0 < terms; k0 += SLICE) {
    for (var e = index; e < TILE * SLICE; e += 256u) {
      let row = row0 + e / SLICE;
      let k = k0 + e % SLICE;
      var v = 0.0;
      if (row < filters && k < terms) { v = f32(weights[(part * filters + row) * terms + k]); }
      tile_a[(e % SLICE) * TILE + e / SLICE] = v;
    }
    for (var e = index; e < TILE * SLICE; e += 256u) {
      let k = k0 + e / TILE;
      let tap = k % (R * S);
      let r = top + i32(tap / S * p.dilations.x);
      let s = left + i32(tap % S * p.dilations.y);
      var v = 0.0;
      if (inside && k < terms && r >= 0 && r < i32(p.h) && s >= 0 && s < i32(p.w)) {
        v = f32(x[(plane + k / (R * S) * p.h + u32(r)) * p.w + u32(s)]);
      }
      tile_b[e] = v;
    }
    workgroupBarrier();
    for (var k = 0u; k < SLICE; k++) {
      let at = k * TILE + lane.x * 4u;
      let right = vec4<f32>(tile_b[at], tile_b[at + 1u], tile_b[at + 2u], tile_b[at + 3u]);
      for (var r = 0u; r < 4u; r++) { sum[r] += tile_a[k * TILE + lane.y * 4u + r] * right; }
    }
    workgroupBarrier();
  }
  for (var r = 0u; r < 4u; r++) {
    let row = row0 + lane.y * 4u + r;
    if (row >= filters) { continue; }
    let o = part * filters + row;
    var shift = 0.0;
    if (p.has_bias != 0u) { shift = f32(bias[o]); }
    for (var c = 0u; c < 4u; c++) {
      let at = column0 + lane.x * 4u + c;
      if (at < p.n * places) { y[(at / places * p.o + o) * places + at % places] = T(sum[r][c] + shift); }
    }
  }
}
