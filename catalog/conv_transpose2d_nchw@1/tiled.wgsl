// A product of matrices that are never written out, one for every residue of the place in y by the strides, so that every
// term counts: rows are the results of a group, columns the places with that residue in all images, and the sum goes over the
// channels of the group and the taps of the filter that reach such places. It needs a stride or a dilation of 1 along
// each axis. Tiles of 64 x 64 results a workgroup, 4 x 4 a lane, over slices of 16 terms in workgroup memory.
alias T = f32;
struct Params { x: vec4<u32>, y: vec4<u32>, filter_shape: vec4<u32>, has_bias: u32, groups: u32, strides: vec2<u32>, dilations: vec2<u32>, padding: vec4<u32> }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> weights: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

const TILE = 64u;
const SLICE = 16u;
var<workgroup> tile_a: array<f32, 1024>; // SLICE x TILE: term, result
var<workgroup> tile_b: array<f32, 1024>; // SLICE x TILE: term, place

// Places of an axis of n whose distance from the start, padding included, leaves a residue: the first, and how many.
fn first_place(residue: u32, stride: u32, padding: u32) -> u32 { return (residue + stride - padding % stride) % stride; }
fn count_from(first: u32, n: u32, stride: u32) -> u32 {
  if (first >= n) { return 0u; }
  return (n - 1u - first) / stride + 1u;
}

@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) lane: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let part = group.z % p.groups;
  let residues = group.z / p.groups % (p.strides.x * p.strides.y);
  let residue = vec2<u32>(residues / p.strides.y, residues % p.strides.y);
  let fold = group.z / p.groups / (p.strides.x * p.strides.y);
  let first = vec2<u32>(first_place(residue.x, p.strides.x, p.padding.x), first_place(residue.y, p.strides.y, p.padding.z));
  let rows = count_from(first.x, p.y.z, p.strides.x);
  let columns = count_from(first.y, p.y.w, p.strides.y);
  let taps = vec2<u32>(count_from(residue.x, p.filter_shape.z, p.strides.x), count_from(residue.y, p.filter_shape.w, p.strides.y));
  let results = p.filter_shape.y;
  let depth = p.x.y / p.groups;
  let terms = depth * taps.x * taps.y;
  let places = p.x.x * rows * columns;
  let row0 = group.y * TILE;
  let column0 = (fold * groups.x + group.x) * TILE;
  let mine = column0 + index % TILE;
  let base_row = i32((first.x + mine / max(columns, 1u) % max(rows, 1u) * p.strides.x + p.padding.x - residue.x) / p.strides.x);
  let base_column = i32((first.y + mine % max(columns, 1u) * p.strides.y + p.padding.z - residue.y) / p.strides.y);
  let plane = (mine / max(rows * columns, 1u) * p.x.y + part * depth) * p.x.z;
  var sum: array<vec4<f32>, 4>;
  for (var k0 = 0u; k0 < terms; k0 += SLICE) {
    for (var e = index; e < TILE * SLICE; e += 256u) {
      let k = k0 + e / TILE;
      let c = k / (taps.x * taps.y);
      let tap = vec2<u32>(k / taps.y % taps.x, k % taps.y);
      let result = row0 + e % TILE;
      var v = 0.0;
      if (k < terms && result < results) {
        let at = residue + tap * p.strides;
        v = f32(weights[(((part * depth + c) * results + result) * p.filter_shape.z + at.x) * p.filter_shape.w + at.y]);
      }
      tile_a[e] = v;
      let r = base_row - i32(tap.x * p.dilations.x);
      let s = base_column - i32(tap.y * p.dilations.y);
      v = 0.0;
      if (k < terms && mine < places && r >= 0 && r < i32(p.x.z) && s >= 0 && s < i32(p.x.w)) {
        v = f32(x[(plane + c * p.x.z + u32(r)) * p.x.w + u32(s)]);
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
    let result = row0 + lane.y * 4u + r;
    if (result >= results) { continue; }
    let o = part * results + result;
    var shift = 0.0;
    if (p.has_bias != 0u) { shift = f32(bias[o]); }
    for (var c = 0u; c < 4u; c++) {
      let at = column0 + lane.x * 4u + c;
      if (at >= places) { continue; }
      let row = first.x + at / columns % rows * p.strides.x;
      let column = first.y + at % columns * p.strides.y;
      y[((at / (rows * columns) * p.y.y + o) * p.y.z + row) * p.y.w + column] = T(sum[r][c] + shift);
    }
  }
}
