// Both operands as they are: tiles of 64 x 128 results a workgroup, 8 rows x 8 columns a lane, over slices of 8 along k. While one slice
// is multiplied, the next one is on its way into registers, then into the other half of workgroup memory: one barrier a slice.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { m: u32, n: u32, k: u32, alpha: f32, beta: f32, has_c: u32, c: View }
@group(0) @binding(0) var<storage, read> a: array<vec4<T>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<T>>;
@group(0) @binding(2) var<storage, read> c_values: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<T>>;
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

// alpha times four neighbours of a row, and beta times what C has for them.
fn finish(sum: vec4<f32>, row: u32, quad: u32) -> vec4<T> {
  var value = sum * p.alpha;
  if (p.has_c != 0u) {
    for (var e = 0u; e < 4u; e++) { value[e] += p.beta * f32(c_values[c_at(row * p.n + 4u * quad + e)]); }
  }
  return vec4<T>(value);
}

const ROWS = 64u; // of a tile; a lane has rows y, y + 8, ...
const QUADS = 32u; // vec4 columns of a tile; a lane has quads x and x + 16
const SLICE = 2u; // vec4s of k in a slice
var<workgroup> tile_a: array<vec4<f32>, 256>; // 2 x ROWS x SLICE, along k
var<workgroup> tile_b: array<vec4<f32>, 512>; // 2 x 4 SLICE x QUADS, along n

fn read_a(row: u32, k: u32) -> vec4<f32> {
  if (row < p.m && k < p.k / 4u) { return vec4<f32>(a[row * (p.k / 4u) + k]); }
  return vec4<f32>();
}

fn read_b(k: u32, quad: u32) -> vec4<f32> {
  if (k < p.k && quad < p.n / 4u) { return vec4<f32>(b[k * (p.n / 4u) + quad]); }
  return vec4<f32>();
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let row0 = group.y * ROWS;
  let quad0 = group.x * QUADS;
  let x = index % 16u;
  let y0 = index / 16u;
  let row = row0 + index / SLICE; // what the lane brings: one vec4 of a, two of b
  let k_a = index % SLICE;
  let k_b = index / QUADS;
  let quad = quad0 + index % QUADS;
  var sum: array<vec4<f32>, 16>;
  tile_a[index] = read_a(row, k_a);
  tile_b[index] = read_b(k_b, quad);
  tile_b[index + 128u] = read_b(k_b + 4u, quad);
  workgroupBarrier();
  var now = 0u;
  for (var k = 0u; k < p.k; k += 8u) {
    let next_a = read_a(row, (k + 8u) / 4u + k_a);
    let next_b = read_b(k + 8u + k_b, quad);
    let last_b = read_b(k + 12u + k_b, quad);
    for (var q = 0u; q < SLICE; q++) {
      var left: array<vec4<f32>, 8>;
      for (var r = 0u; r < 8u; r++) { left[r] = tile_a[now * 128u + (y0 + r * 8u) * SLICE + q]; }
      for (var e = 0u; e < 4u; e++) {
        let right0 = tile_b[now * 256u + (q * 4u + e) * QUADS + x];
        let right1 = tile_b[now * 256u + (q * 4u + e) * QUADS + x + 16u];
        for (var r = 0u; r < 8u; r++) {
          sum[r] += left[r][e] * right0;
          sum[r + 8u] += left[r][e] * right1;
        }
      }
    }
    now = 1u - now;
    tile_a[now * 128u + index] = next_a;
    tile_b[now * 256u + index] = next_b;
    tile_b[now * 256u + index + 128u] = last_b;
    workgroupBarrier();
  }
  let n4 = p.n / 4u;
  for (var r = 0u; r < 8u; r++) {
    let at = row0 + y0 + r * 8u;
    if (at >= p.m) { break; }
    if (quad0 + x < n4) { y[at * n4 + quad0 + x] = finish(sum[r], at, quad0 + x); }
    if (quad0 + x + 16u < n4) { y[at * n4 + quad0 + x + 16u] = finish(sum[r + 8u], at, quad0 + x + 16u); }
  }
}
