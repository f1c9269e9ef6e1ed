// A product of matrices that are never written out: rows are the filters of a group, columns the elements of a filter, the sum
// goes over the places of the gradient in all images, in p.slices parts side by side. tiles sums the parts in tiles of 64 x 64
// results a workgroup, 4 x 4 a lane, over slices of 16 terms in workgroup memory; main adds them in order.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, window: vec2<u32>, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32>, groups: u32, slices: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> gradient: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<storage, read_write> pieces: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

const TILE = 64u;
const SLICE = 16u;
var<workgroup> tile_a: array<f32, 1024>; // SLICE x TILE: term, filter
var<workgroup> tile_b: array<f32, 1024>; // SLICE x TILE: term, element

@compute @workgroup_size(16, 16)
fn tiles(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>,
         @builtin(local_invocation_index) index: u32) {
  let part = group.z % p.groups;
  let piece = group.z / p.groups;
  let filters = p.y.y / p.groups;
  let depth = p.x.y / p.groups;
  let elements = depth * p.window.x * p.window.y;
  let places = p.y.z * p.y.w;
  let terms = p.x.x * places;
  let length = ((terms + p.slices - 1u) / p.slices + SLICE - 1u) / SLICE * SLICE;
  let row0 = group.y * TILE;
  let column0 = group.x * TILE;
  // The four elements of a filter that a lane reads x for: where they lie under a place.
  var plane: vec4<u32>;
  var down: vec4<i32>;
  var across: vec4<i32>;
  for (var j = 0u; j < 4u; j++) {
    let column = column0 + index / SLICE + 16u * j;
    let tap = column % (p.window.x * p.window.y);
    plane[j] = part * depth + column / (p.window.x * p.window.y);
    down[j] = i32(tap / p.window.y * p.dilations.x) - i32(p.padding.x);
    across[j] = i32(tap % p.window.y * p.dilations.y) - i32(p.padding.z);
  }
  var sum: array<vec4<f32>, 4>;
  let end = min(terms, (piece + 1u) * length);
  for (var k0 = piece * length; k0 < end; k0 += SLICE) {
    let k = k0 + index % SLICE;
    let n = k / places;
    let place = k % places;
    let top = i32(place / p.y.w * p.strides.x);
    let left = i32(place % p.y.w * p.strides.y);
    for (var j = 0u; j < 4u; j++) {
      let row = row0 + index / SLICE + 16u * j;
      var v = 0.0;
      if (k < end && row < filters) { v = f32(gradient[(n * p.y.y + part * filters + row) * places + place]); }
      tile_a[(index % SLICE) * TILE + index / SLICE + 16u * j] = v;
      let r = top + down[j];
      let s = left + across[j];
      v = 0.0;
      if (k < end && column0 + index / SLICE + 16u * j < elements && r >= 0 && r < i32(p.x.z) && s >= 0 && s < i32(p.x.w)) {
        v = f32(x[((n * p.x.y + plane[j]) * p.x.z + u32(r)) * p.x.w + u32(s)]);
      }
      tile_b[(index % SLICE) * TILE + index / SLICE + 16u * j] = v;
    }
    workgroupBarrier();
    for (var q = 0u; q < SLICE; q++) {
      let at = q * TILE + lane.x * 4u;
      let right = vec4<f32>(tile_b[at], tile_b[at + 1u], tile_b[at + 2u], tile_b[at + 3u]);
      for (var r = 0u; r < 4u; r++) { sum[r] += tile_a[q * TILE + lane.y * 4u + r] * right; }
    }
    workgroupBarrier();
  }
  for (var r = 0u; r < 4u; r++) {
    let row = row0 + lane.y * 4u + r;
    for (var c = 0u; c < 4u; c++) {
      let column = column0 + lane.x * 4u + c;
      if (row < filters && column < elements) {
        pieces[piece * p.count + (part * filters + row) * elements + column] = sum[r][c];
      }
    }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var sum = 0.0;
  for (var piece = 0u; piece < p.slices; piece++) { sum += pieces[piece * p.count + i]; }
  y[i] = T(sum);
}
