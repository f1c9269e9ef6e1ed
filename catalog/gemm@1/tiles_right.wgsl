// B transposed: tiles of 64 x 128 results a workgroup, 8 rows x 8 columns a lane, over slices of 8 along k. Both operands come in vec4s
// along k, and four products at once are a dot. While one slice is multiplied, the next one is on its way into registers, then
// into the other half of workgroup memory: one barrier a slice.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { m: u32, n: u32, k: u32, alpha: f32, beta: f32, has_c: u32, c: View }
@group(0) @binding(0) var<storage, read> a: array<vec4<T>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<T>>;
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

const ROWS = 64u; // of a tile; a lane has rows y, y + 8, ...
const COLUMNS = 128u; // of a tile; a lane has columns x, x + 16, ...
const SLICE = 2u; // vec4s of k in a slice
var<workgroup> tile_a: array<vec4<f32>, 256>; // 2 x ROWS x SLICE
var<workgroup> tile_b: array<vec4<f32>, 512>; // 2 x SLICE x COLUMNS

fn read_a(row: u32, k: u32) -> vec4<f32> {
  if (row < p.m && k < p.k / 4u) { return vec4<f32>(a[row * (p.k / 4u) + k]); }
  return vec4<f32>();
}

fn read_b(column: u32, k: u32) -> vec4<f32> {
  if (column < p.n && k < p.k / 4u) { return vec4<f32>(b[column * (p.k / 4u) + k]); }
  return vec4<f32>();
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let row0 = group.y * ROWS;
  let column0 = group.x * COLUMNS;
  let x = index % 16u;
  let y0 = index / 16u;
  let row = row0 + index / SLICE; // what the lane brings: one vec4 of a, two of b
  let brought = column0 + index / SLICE;
  let part = index % SLICE;
  let place = part * COLUMNS + index / SLICE;
  var sum: array<vec4<f32>, 16>;
  tile_a[index] = read_a(row, part);
  tile_b[place] = read_b(brought, part);
  tile_b[place + 64u] = read_b(brought + 64u, part);
  workgroupBarrier();
  var now = 0u;
  for (var k = 0u; k < p.k; k += 8u) {
    let next_a = read_a(row, k / 4u + SLICE + part);
    let next_b = read_b(brought, k / 4u + SLICE + part);
    let last_b = read_b(brought + 64u, k / 4u + SLICE + part);
    for (var q = 0u; q < SLICE; q++) {
      var left: array<vec4<f32>, 8>;
      for (var r = 0u; r < 8u; r++) { left[r] = tile_a[now * 128u + (y0 + r * 8u) * SLICE + q]; }
      for (var h = 0u; h < 2u; h++) {
        let at = now * 256u + q * COLUMNS + x + 64u * h;
        let right0 = tile_b[at];
        let right1 = tile_b[at + 16u];
        let right2 = tile_b[at + 32u];
        let right3 = tile_b[at + 48u];
        for (var r = 0u; r < 8u; r++) {
          sum[r + 8u * h] += vec4<f32>(dot(left[r], right0), dot(left[r], right1), dot(left[r], right2), dot(left[r], right3));
        }
      }
    }
    now = 1u - now;
    tile_a[now * 128u + index] = next_a;
    tile_b[now * 256u + place] = next_b;
    tile_b[now * 256u + place + 64u] = last_b;
    workgroupBarrier();
  }
  for (var r = 0u; r < 8u; r++) {
    let at = row0 + y0 + r * 8u;
    if (at >= p.m) { break; }
    for (var j = 0u; j < 8u; j++) {
      let column = column0 + x + 16u * j;
      if (column >= p.n) { break; }
      var value = sum[r + 8u * (j / 4u)][j % 4u] * p.alpha;
      if (p.has_c != 0u) { value += p.beta * f32(c_values[c_at(at * p.n + column)]); }
      y[at * p.n + column] = T(value);
    }
  }
}
