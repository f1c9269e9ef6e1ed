// `measure` counts the tiles of each splat and of blocks of 256, `scan` turns the blocks' counts into places, `emit` counts once more and
// writes: both call the same function. Sums stop at 2^32 - 1.
struct Params { n: u32, across: u32, down: u32, capacity: u32, blocks: u32 }
@group(0) @binding(0) var<storage, read> splat: array<f32>;
@group(0) @binding(1) var<storage, read> rect: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> tile: array<u32>;
@group(0) @binding(4) var<storage, read_write> owner: array<u32>;
@group(0) @binding(5) var<storage, read_write> first: array<u32>;
@group(0) @binding(6) var<storage, read_write> count: array<u32>;
@group(0) @binding(7) var<storage, read_write> places: array<u32>; // of each block's first
@group(0) @binding(8) var<uniform> p: Params;

var<workgroup> sums: array<u32, 256>;

// Whether some pixel centre's place within tile (tx, ty) has a power that leaves an alpha of 1/255: by the least of the quadratic form
// over the rectangle of centres. Where the centre of the splat is outside, that is on an edge.
fn form(i: u32, dx: f32, dy: f32) -> f32 {
  return splat[i * 9u + 2u] * dx * dx + 2.0 * splat[i * 9u + 3u] * dx * dy + splat[i * 9u + 4u] * dy * dy;
}

// Nothing that is not finite, or that would overflow, is met.
fn is_drawable(i: u32) -> bool {
  for (var k = 0u; k < 6u; k++) {
    if (!(abs(splat[i * 9u + k]) < 1e6)) { return false; }
  }
  return splat[i * 9u + 2u] > 0.0 && splat[i * 9u + 4u] > 0.0 && splat[i * 9u + 5u] > 0.0;
}

fn along_x(i: u32, dy: f32, low: f32, high: f32) -> f32 {
  return form(i, min(max(-splat[i * 9u + 3u] * dy / splat[i * 9u + 2u], low), high), dy);
}

fn along_y(i: u32, dx: f32, low: f32, high: f32) -> f32 {
  return form(i, dx, min(max(-splat[i * 9u + 3u] * dx / splat[i * 9u + 4u], low), high));
}

fn touches(i: u32, tx: u32, ty: u32) -> bool {
  if (!is_drawable(i)) { return false; }
  let x0 = f32(tx) * 16.0 + 0.5 - splat[i * 9u];
  let y0 = f32(ty) * 16.0 + 0.5 - splat[i * 9u + 1u];
  let x1 = x0 + 15.0;
  let y1 = y0 + 15.0;
  var least = 0.0;
  if (x0 > 0.0 || x1 < 0.0 || y0 > 0.0 || y1 < 0.0) {
    least = min(min(along_y(i, x0, y0, y1), along_y(i, x1, y0, y1)), min(along_x(i, y0, x0, x1), along_x(i, y1, x0, x1)));
  }
  return least <= 2.0 * log(255.0 * splat[i * 9u + 5u]) + 1e-3; // a little more, so that rounding loses no pixel
}

fn add(a: u32, b: u32) -> u32 { return select(a + b, 0xffffffffu, a + b < a); }

// The sum over lanes up to this one, and in sums[255] that over all.
fn running(mine: u32, lane: u32) -> u32 {
  sums[lane] = mine;
  workgroupBarrier();
  for (var gap = 1u; gap < 256u; gap <<= 1u) {
    let before = select(0u, sums[max(lane, gap) - gap], lane >= gap);
    workgroupBarrier();
    sums[lane] = add(sums[lane], before);
    workgroupBarrier();
  }
  return sums[lane];
}

@compute @workgroup_size(256)
fn measure(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
  let block = group.y * groups.x + group.x;
  let j = block * 256u + lane;
  var mine = 0u;
  if (j < p.n) {
    let i = order[j];
    if (i < p.n) {
      let x1 = min(rect[i * 4u + 2u], p.across);
      let y1 = min(rect[i * 4u + 3u], p.down);
      for (var ty = rect[i * 4u + 1u]; ty < y1; ty++) {
        for (var tx = rect[i * 4u]; tx < x1; tx++) { mine += select(0u, 1u, touches(i, tx, ty)); }
      }
    }
    first[j * 2u + 1u] = mine;
  }
  let up_to = running(mine, lane);
  if (lane == 255u && block < p.blocks) { places[block] = up_to; }
}

// One workgroup; a lane has a stretch of blocks.
@compute @workgroup_size(256)
fn scan(@builtin(local_invocation_index) lane: u32) {
  let stretch = (p.blocks + 255u) / 256u;
  let low = min(lane * stretch, p.blocks);
  let end = min(low + stretch, p.blocks);
  var mine = 0u;
  for (var b = low; b < end; b++) { mine = add(mine, places[b]); }
  let up_to = running(mine, lane);
  var place = select(0u, sums[max(lane, 1u) - 1u], lane > 0u);
  for (var b = low; b < end; b++) {
    let n = places[b];
    places[b] = place;
    place = add(place, n);
  }
  if (lane == 255u) {
    count[0] = min(up_to, p.capacity);
    count[1] = up_to;
  }
}

@compute @workgroup_size(256)
fn emit(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let block = group.y * groups.x + group.x;
  let j = block * 256u + lane;
  var mine = 0u;
  if (j < p.n) { mine = first[j * 2u + 1u]; }
  _ = running(mine, lane);
  if (j >= p.n) { return; }
  let before = select(0u, sums[max(lane, 1u) - 1u], lane > 0u);
  let begin = min(add(places[block], before), p.capacity);
  let end = min(add(begin, mine), p.capacity);
  first[j * 2u] = begin;
  first[j * 2u + 1u] = end - begin;
  let i = order[j];
  if (i >= p.n) { return; }
  let x1 = min(rect[i * 4u + 2u], p.across);
  let y1 = min(rect[i * 4u + 3u], p.down);
  var at = begin;
  for (var ty = rect[i * 4u + 1u]; ty < y1; ty++) {
    for (var tx = rect[i * 4u]; tx < x1; tx++) {
      if (at < end && touches(i, tx, ty)) {
        tile[at] = ty * p.across + tx;
        owner[at] = i;
        at++;
      }
    }
  }
  for (; at < end; at++) { // a compiler that rounds the two counts apart leaves no hole
    tile[at] = 0xffffffffu;
    owner[at] = 0xffffffffu;
  }
}

@compute @workgroup_size(256)
fn rest(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let k = id.y * (groups.x * 256u) + id.x;
  if (k >= p.capacity || k < count[0]) { return; }
  tile[k] = 0xffffffffu;
  owner[k] = 0xffffffffu;
}
