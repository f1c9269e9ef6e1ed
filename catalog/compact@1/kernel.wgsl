// `count` counts what each block of 1,024 keeps, `scan` turns that into places, and `transfer` moves: a lane four elements, whose places
// come from a running sum over the workgroup.
alias T = f32;
struct Params { n: u32, blocks: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> keep: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<storage, read_write> kept: array<u32>;
@group(0) @binding(4) var<storage, read_write> places: array<u32>; // of each block's first
@group(0) @binding(5) var<uniform> p: Params;

const EACH = 4u;
var<workgroup> sums: array<u32, 256>;

// The sum over lanes up to this one, and in sums[255] that over all.
fn running(mine: u32, lane: u32) -> u32 {
  sums[lane] = mine;
  workgroupBarrier();
  for (var gap = 1u; gap < 256u; gap <<= 1u) {
    let before = select(0u, sums[max(lane, gap) - gap], lane >= gap);
    workgroupBarrier();
    sums[lane] += before;
    workgroupBarrier();
  }
  return sums[lane];
}

fn kept_of(first: u32) -> u32 {
  var m = 0u;
  for (var e = 0u; e < EACH; e++) {
    if (first + e < p.n) { m += select(0u, 1u, keep[first + e] != 0u); }
  }
  return m;
}

@compute @workgroup_size(256)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let block = group.y * groups.x + group.x;
  let total = running(kept_of((block * 256u + lane) * EACH), lane);
  if (lane == 255u && block < p.blocks) { places[block] = total; }
}

// One workgroup; a lane has a stretch of blocks.
@compute @workgroup_size(256)
fn scan(@builtin(local_invocation_index) lane: u32) {
  let stretch = (p.blocks + 255u) / 256u;
  let first = min(lane * stretch, p.blocks);
  let end = min(first + stretch, p.blocks);
  var mine = 0u;
  for (var b = first; b < end; b++) { mine += places[b]; }
  var place = running(mine, lane) - mine;
  for (var b = first; b < end; b++) {
    let n = places[b];
    places[b] = place;
    place += n;
  }
  if (lane == 255u) { kept[0] = sums[255]; }
}

@compute @workgroup_size(256)
fn transfer(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let block = group.y * groups.x + group.x;
  let first = (block * 256u + lane) * EACH;
  let mine = kept_of(first);
  let up_to = running(mine, lane);
  if (block >= p.blocks) { return; }
  var place = places[block] + up_to - mine;
  for (var e = 0u; e < EACH && first + e < p.n; e++) {
    if (keep[first + e] != 0u) {
      y[place] = x[first + e];
      place++;
    }
  }
}
