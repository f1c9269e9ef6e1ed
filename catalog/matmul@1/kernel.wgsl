// Tiles of 64 x 64 results a workgroup, 4 x 4 a lane, over slices of 16 along k in workgroup memory.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { batch_a: View, batch_b: View, m: u32, n: u32, k: u32, count: u32 }
@group(0) @binding(0) var<storage, read> a: array<T>;
@group(0) @binding(1) var<storage, read> b: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

fn matrix_a(index: u32) -> u32 {
  var rest = index;
  var at = p.batch_a.offset;
  for (var r = p.batch_a.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.batch_a.dims[d / 4u][d % 4u];
    at += (rest % n) * p.batch_a.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn matrix_b(index: u32) -> u32 {
  var rest = index;
  var at = p.batch_b.offset;
  for (var r = p.batch_b.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.batch_b.dims[d / 4u][d % 4u];
    at += (rest % n) * p.batch_b.strides[d / 4u][d % 4u];
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
  let at_a = matrix_a(group.z);
  let at_b = matrix_b(group.z);
  var sum: array<vec4<f32>, 4>;
  for (var k0 = 0u; k0 < p.k; k0 += SLICE) {
    for (var e = index; e < TILE * SLICE; e += 256u) {
      let row = row0 + e / SLICE;
      let k = k0 + e % SLICE;
      var v = 0.0;
      if (row < p.m && k < p.k) { v = f32(a[at_a + row * p.k + k]); }
      tile_a[(e % SLICE) * TILE + e / SLICE] = v;
    }
    for (var e = index; e < TILE * SLICE; e += 256u) {
      let k = k0 + e / TILE;
      let column = column0 + e % TILE;
      var v = 0.0;
      if (k < p.k && column < p.n) { v = f32(b[at_b + k * p.n + column]); }
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
    for (var c = 0u; c < 4u; c++) {
      let column = column0 + lane.x * 4u + c;
      if (row < p.m && column < p.n) { y[(group.z * p.m + row) * p.n + column] = T(sum[r][c]); }
    }
  }
}
