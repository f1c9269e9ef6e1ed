// Tiled matrix product: c (M,N) = a (M,K) * b (K,N), one tile a workgroup.
const TILE: u32 = 16;

struct Shape {
  m: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

var<workgroup> ta: array<array<f32, TILE>, TILE>;
var<workgroup> tb: array<array<f32, TILE>, TILE>;

fn load_a(row: u32, col: u32) -> f32 {
  if row < shape.m && col < shape.k {
    return a[row * shape.k + col];
  }
  return 0.0;
}

fn load_b(row: u32, col: u32) -> f32 {
  return select(0.0, b[min(row * shape.n + col, arrayLength(&b) - 1u)], row < shape.k && col < shape.n);
}

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>) {
  let row = wg.y * TILE + lid.y;
  let col = wg.x * TILE + lid.x;
  var sum = 0.0;
  let tiles = (shape.k + TILE - 1u) / TILE;
  for (var t = 0u; t < tiles; t++) {
    ta[lid.y][lid.x] = load_a(row, t * TILE + lid.x);
    tb[lid.y][lid.x] = load_b(t * TILE + lid.y, col);
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) {
      sum = fma(ta[lid.y][i], tb[i][lid.x], sum);
    }
    workgroupBarrier();
  }
  if row < shape.m && col < shape.n {
    c[row * shape.n + col] = sum;
  }
}
