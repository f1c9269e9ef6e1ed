// A matrix in tiles of 32 x 32 through workgroup memory, so that reads and writes are both along rows. A lane moves
// four elements; the row of a tile is 33 wide, so that its columns lie in different banks.
alias T = f32;
struct Params { rows: u32, columns: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> tile: array<T, 1056>;

@compute @workgroup_size(32, 8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let row0 = group.y * 32u;
  let column0 = group.x * 32u;
  for (var k = lane.y; k < 32u; k += 8u) {
    if (row0 + k < p.rows && column0 + lane.x < p.columns) {
      tile[k * 33u + lane.x] = x[(row0 + k) * p.columns + column0 + lane.x];
    }
  }
  workgroupBarrier();
  for (var k = lane.y; k < 32u; k += 8u) {
    if (column0 + k < p.columns && row0 + lane.x < p.rows) {
      y[(column0 + k) * p.rows + row0 + lane.x] = tile[lane.x * 33u + k];
    }
  }
}
