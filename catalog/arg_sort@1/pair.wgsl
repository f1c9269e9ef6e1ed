// A merge sort of positions, compared through the 64-bit integers, held as (low, high), that they stand for: blocks of 256, a
// workgroup a block, then runs joined in pairs, a lane eight results from where its diagonal of the pair begins (merge path).
alias T = vec2<u32>;
struct Params { inner: u32, length: u32, rows: u32, descending: u32, signed: u32, levels: u32, level: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@group(0) @binding(2) var<storage, read_write> even: array<u32>; // rows x length, the source of even turns
@group(0) @binding(3) var<storage, read_write> odd: array<u32>;
@group(0) @binding(4) var<uniform> p: Params;
@group(0) @binding(5) var<uniform> turn: Params;

const BLOCK = 256u;
const EACH = 8u;
var<workgroup> values: array<T, 256>;
var<workgroup> places: array<u32, 256>;

fn less(a: T, b: T, signed: u32) -> bool {
  if (a.y == b.y) { return a.x < b.x; }
  if (signed != 0u) { return bitcast<i32>(a.y) < bitcast<i32>(b.y); }
  return a.y < b.y;
}

fn before(a: T, i: u32, b: T, j: u32, descending: u32, signed: u32) -> bool {
  if (all(a == b)) { return i < j; }
  return less(a, b, signed) != (descending == 1u);
}

// Of the pair at places c: first those with a place, then by value.
fn block_before(i: u32, j: u32) -> bool {
  let a = places[i];
  let b = places[j];
  if (a == 0xffffffffu || b == 0xffffffffu) { return a < b; }
  return before(values[i], a, values[j], b, p.descending, p.signed);
}

@compute @workgroup_size(128)
fn blocks(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
  let per_row = (p.length + BLOCK - 1u) / BLOCK;
  let at = group.y * groups.x + group.x;
  let row = min(at / per_row, p.rows - 1u);
  let first = (at % per_row) * BLOCK;
  let n = min(BLOCK, p.length - first);
  let start = (row / p.inner) * p.length * p.inner + row % p.inner;
  for (var j = lane; j < BLOCK; j += 128u) {
    let place = first + min(j, n - 1u);
    values[j] = x[start + place * p.inner];
    places[j] = select(0xffffffffu, place, j < n);
  }
  workgroupBarrier();
  for (var size = 2u; size <= BLOCK; size <<= 1u) {
    for (var gap = size >> 1u; gap > 0u; gap >>= 1u) {
      let i = (lane / gap) * gap * 2u + lane % gap;
      if (block_before(i + gap, i) == ((i & size) == 0u)) {
        let v = values[i];
        let place = places[i];
        values[i] = values[i + gap];
        places[i] = places[i + gap];
        values[i + gap] = v;
        places[i + gap] = place;
      }
      workgroupBarrier();
    }
  }
  if (at >= p.rows * per_row) { return; }
  for (var j = lane; j < n; j += 128u) { even[row * p.length + first + j] = places[j]; }
}

fn source(at: u32) -> u32 {
  if ((turn.level & 1u) == 1u) { return odd[at]; }
  return even[at];
}

fn turn_before(start: u32, i: u32, j: u32) -> bool {
  return before(x[start + i * turn.inner], i, x[start + j * turn.inner], j, turn.descending, turn.signed);
}

@compute @workgroup_size(128)
fn merge(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let per_row = (turn.length + EACH - 1u) / EACH;
  let at = (group.y * groups.x + group.x) * 128u + lane;
  if (at >= turn.rows * per_row) { return; }
  let row = at / per_row;
  let start = (row / turn.inner) * turn.length * turn.inner + row % turn.inner;
  let base = row * turn.length;
  let out = (at % per_row) * EACH;
  let run = BLOCK << turn.level;
  let first = out & ~(run * 2u - 1u); // of the left run
  let middle = min(first + run, turn.length);
  let end = min(middle + run, turn.length);
  let diagonal = out - first;
  var low = diagonal - min(diagonal, end - middle);
  var high = min(diagonal, middle - first);
  while (low < high) {
    let half = (low + high) / 2u;
    if (turn_before(start, source(base + first + half), source(base + middle + diagonal - 1u - half))) { low = half + 1u; } else { high = half; }
  }
  var i = first + low;
  var j = middle + diagonal - low;
  for (var e = 0u; e < EACH && out + e < end; e++) {
    let a = source(base + min(i, middle - 1u));
    let b = source(base + min(j, end - 1u));
    let take_left = i < middle && (j >= end || turn_before(start, a, b));
    let taken = select(b, a, take_left);
    if ((turn.level & 1u) == 1u) { even[base + out + e] = taken; } else { odd[base + out + e] = taken; }
    i += select(0u, 1u, take_left);
    j += select(1u, 0u, take_left);
  }
}

@compute @workgroup_size(128)
fn emit(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let at = (group.y * groups.x + group.x) * 128u + lane;
  if (at >= p.rows * p.length) { return; }
  let row = at / p.length;
  var place = even[at];
  if ((p.levels & 1u) == 1u) { place = odd[at]; }
  y[(row / p.inner) * p.length * p.inner + row % p.inner + (at % p.length) * p.inner] = i32(place);
}
