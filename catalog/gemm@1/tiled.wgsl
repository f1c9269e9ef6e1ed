// Tiles of 64 x 64 results a workgroup, 4 x 4 a lane, over slices of 16 along k in workgroup memory. Neighbouring lanes read
// neighbouring elements, whichever way the operands are turned.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { m: u32, n: u32, k: u32, at: u32, bt: u32, alpha: f32, beta: f32, has_c: u32, c: View }
@group(0) @binding(0) var<storage, read> a: array<T>;
@group(0) @binding(1) var<storage, read> b: array<T>;
@group(0) @binding(2) var<storage, read> c_values: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

fn c_at(index: u32) -> u32 {
  var rest = index;
  var at = p.c.offset;
  for (var r = p.c.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.c.dims[d / 4u][d % 4u];
    at += (rest % n) * p.c.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

const TILE = 64u;
const SLICE = 16u;
var<workgroup> tile_a: array<f32, 1024>; // SLICE x TILE: element (k, row)
var<workgroup> tile_b: array<f32, 1024>; // SLICE x TILE: element (k, column)

@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>,
        @builtin(local_invocation_index) index: u32) {
  let row0 = group.y * TILE;
  let column0 = group.x * TILE;
  var sum: array<vec4<f32>, 4>;
  for (var k0 = 0u; k0 < p.k; k0 += SLICE) {
    for (var e = index; e < TILE * SLICE; e += 256u) {
      var k = e % SLICE;
      var row = e / SLICE;
      if (p.at != 0u) {
        k = e / TILE;
        row = e % TILE;
      }
      var v = 0.0;
      if (row0 + row < p.m && k0 + k < p.k) { v = f32(a[select((row0 + row) * p.k + k0 + k, (k0 + k) * p.m + row0 + row, p.at != 0u)]); }
      tile_a[k * TILE + row] = v;
    }
    for (var e = index; e < TILE * SLICE; e += 256u) {
      var k = e / TILE;
      var column = e % TILE;
      if (p.bt != 0u) {
        k = e % SLICE;
        column = e / SLICE;
      }
      var v = 0.0;
      if (column0 + column < p.n && k0 + k < p.k) { v = f32(b[select((k0 + k) * p.n + column0 + column, (column0 + column) * p.k + k0 + k, p.bt != 0u)]); }
      tile_b[k * TILE + column] = v;
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
    for (var c = 0u; c < 4u; c++) {
      let column = column0 + lane.x * 4u + c;
      if (row >= p.m || column >= p.n) { continue; }
      let at = row * p.n + column;
      var value = sum[r][c] * p.alpha;
      if (p.has_c != 0u) { value += p.beta * f32(c_values[c_at(at)]); }
      y[at] = T(value);
    }
  }
}
