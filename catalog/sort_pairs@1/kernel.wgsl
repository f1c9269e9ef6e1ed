// Radix sort by four bits a turn, from the lowest: `tally` counts the digits of blocks of 1,024, `scan` turns counts into places, and
// `transfer` moves (key, index): a lane four pairs in a row, whose places within the block come from running sums over the lanes, two
// digits in a word. Then `finish` fetches the values.
struct Params { n: u32, blocks: u32, bits: u32, level: u32 }
@group(0) @binding(0) var<storage, read> key: array<u32>;
@group(0) @binding(1) var<storage, read> value: array<u32>;
@group(0) @binding(2) var<storage, read> count: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted_key: array<u32>;
@group(0) @binding(4) var<storage, read_write> sorted_value: array<u32>;
@group(0) @binding(5) var<storage, read_write> rank: array<u32>;
@group(0) @binding(6) var<storage, read_write> even: array<vec2<u32>>; // what turns 1, 3, ... leave
@group(0) @binding(7) var<storage, read_write> odd: array<vec2<u32>>;  // what turns 0, 2, ... leave
@group(0) @binding(8) var<storage, read_write> places: array<u32>;     // by digit, then block
@group(0) @binding(9) var<uniform> p: Params;
@group(0) @binding(10) var<uniform> turn: Params;

const EACH = 4u;
var<workgroup> totals: array<atomic<u32>, 16>;
var<workgroup> sums: array<u32, 256>;
var<workgroup> running: array<array<u32, 256>, 8>; // digits 2 k and 2 k + 1 in the halves of a word
var<workgroup> digit_start: array<u32, 16>;

// What turn `level` starts from.
fn source(i: u32, level: u32) -> vec2<u32> {
  if (level == 0u) { return vec2<u32>(key[i], i); }
  if ((level & 1u) == 1u) { return odd[i]; }
  return even[i];
}

fn digit_of(k: u32) -> u32 {
  let shift = turn.level * 4u;
  let width = min(turn.bits - shift, 4u);
  return (k >> shift) & ((1u << width) - 1u);
}

@compute @workgroup_size(256)
fn tally(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let block = group.y * groups.x + group.x;
  let n = min(count[0], turn.n);
  if (lane < 16u) { atomicStore(&totals[lane], 0u); }
  workgroupBarrier();
  for (var e = 0u; e < EACH; e++) {
    let i = block * 1024u + e * 256u + lane;
    if (i < n) { atomicAdd(&totals[digit_of(source(i, turn.level).x)], 1u); }
  }
  workgroupBarrier();
  if (lane < 16u && block < turn.blocks) { places[lane * turn.blocks + block] = atomicLoad(&totals[lane]); }
}

// One workgroup; a lane has a stretch of counts.
@compute @workgroup_size(256)
fn scan(@builtin(local_invocation_index) lane: u32) {
  let all = turn.blocks * 16u;
  let stretch = (all + 255u) / 256u;
  let first = min(lane * stretch, all);
  let end = min(first + stretch, all);
  var mine = 0u;
  for (var b = first; b < end; b++) { mine += places[b]; }
  sums[lane] = mine;
  workgroupBarrier();
  for (var gap = 1u; gap < 256u; gap <<= 1u) {
    let before = select(0u, sums[max(lane, gap) - gap], lane >= gap);
    workgroupBarrier();
    sums[lane] += before;
    workgroupBarrier();
  }
  var place = sums[lane] - mine;
  for (var b = first; b < end; b++) {
    let n = places[b];
    places[b] = place;
    place += n;
  }
}

@compute @workgroup_size(256)
fn transfer(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) lane: u32) {
  let block = group.y * groups.x + group.x;
  let n = min(count[0], turn.n);
  let first = (block * 256u + lane) * EACH;
  var pair: array<vec2<u32>, 4>;
  var digit: array<u32, 4>;
  for (var w = 0u; w < 8u; w++) { running[w][lane] = 0u; }
  for (var e = 0u; e < EACH; e++) {
    pair[e] = vec2<u32>(0u);
    digit[e] = 0u;
    if (first + e < n) {
      pair[e] = source(first + e, turn.level);
      digit[e] = digit_of(pair[e].x);
      running[digit[e] / 2u][lane] += 1u << (16u * (digit[e] & 1u));
    }
  }
  if (lane < 16u && block < turn.blocks) { digit_start[lane] = places[lane * turn.blocks + block]; }
  var own: array<u32, 8>;
  for (var w = 0u; w < 8u; w++) { own[w] = running[w][lane]; }
  workgroupBarrier();
  for (var gap = 1u; gap < 256u; gap <<= 1u) {
    var before: array<u32, 8>;
    for (var w = 0u; w < 8u; w++) { before[w] = select(0u, running[w][max(lane, gap) - gap], lane >= gap); }
    workgroupBarrier();
    for (var w = 0u; w < 8u; w++) { running[w][lane] += before[w]; }
    workgroupBarrier();
  }
  // How many of each digit stand before this lane's next.
  for (var w = 0u; w < 8u; w++) { own[w] = running[w][lane] - own[w]; }
  for (var e = 0u; e < EACH; e++) {
    if (first + e < n) {
      let half = 16u * (digit[e] & 1u);
      let place = digit_start[digit[e]] + ((own[digit[e] / 2u] >> half) & 0xffffu);
      own[digit[e] / 2u] += 1u << half;
      if ((turn.level & 1u) == 1u) { even[place] = pair[e]; } else { odd[place] = pair[e]; }
    }
  }
}

@compute @workgroup_size(256)
fn finish(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.n) { return; }
  if (i >= count[0]) {
    sorted_key[i] = 0xffffffffu;
    sorted_value[i] = 0xffffffffu;
    rank[i] = 0xffffffffu;
    return;
  }
  let pair = source(i, p.level);
  sorted_key[i] = pair.x;
  sorted_value[i] = value[pair.y];
  rank[pair.y] = i;
}
