// A merge sort of (key, position). `rows` sorts rows of up to 1,024 elements, a workgroup a row. Longer rows: `blocks` sorts
// blocks of 1,024, each turn of `merge` joins runs in pairs, a lane eight results from where its diagonal of the pair
// begins (merge path), and `emit` writes the positions. No two pairs are equal, so that the order is stable.
alias T = f32;
struct Params { inner: u32, length: u32, rows: u32, descending: u32, kind: u32, levels: u32 }
struct Turn { length: u32, rows: u32, level: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@group(0) @binding(2) var<storage, read_write> even: array<vec2<u32>>; // rows x length, the source of even turns
@group(0) @binding(3) var<storage, read_write> odd: array<vec2<u32>>;
@group(0) @binding(4) var<uniform> p: Params;
@group(0) @binding(5) var<uniform> turn: Turn;

const BLOCK = 1024u;
const EACH = 8u;
var<workgroup> keys: array<u32, 1024>;
var<workgroup> places: array<u32, 1024>;

// Unsigned numbers in the order of the elements. kind: 0 float (both zeros equal, NaN last), 1 signed, 2 unsigned.
fn key(v: T) -> u32 {
  var k = u32(v);
  if (p.kind == 1u) { k = bitcast<u32>(i32(v)) ^ 0x80000000u; }
  if (p.kind == 0u) {
    let bits = bitcast<u32>(f32(v));
    let magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) { return 0xffffffffu; }
    k = select(select(bits | 0x80000000u, ~bits, bits != magnitude), 0x80000000u, magnitude == 0u);
  }
  return select(k, ~k, p.descending == 1u);
}

fn before(a: vec2<u32>, b: vec2<u32>) -> bool { return a.x < b.x || (a.x == b.x && a.y < b.y); }

fn row_start(row: u32) -> u32 { return (row / p.inner) * p.length * p.inner + row % p.inner; }

// n elements of a row from `first` on into workgroup memory, followed by pairs that come last.
fn fetch(row: u32, first: u32, n: u32, width: u32, lane: u32) {
  let start = row_start(row);
  for (var j = lane; j < width; j += 256u) {
    let at = min(first + min(j, n - 1u), p.length - 1u);
    let k = key(x[start + at * p.inner]);
    keys[j] = select(0xffffffffu, k, j < n);
    places[j] = select(0xffffffffu, at, j < n);
  }
  workgroupBarrier();
}

// Bitonic: runs of `size` alternate in direction, and each is made of comparisons over halving distances.
fn order(width: u32, lane: u32) {
  for (var size = 2u; size <= width; size <<= 1u) {
    for (var gap = size >> 1u; gap > 0u; gap >>= 1u) {
      for (var c = lane; c < width / 2u; c += 256u) {
        let i = (c / gap) * gap * 2u + c % gap;
        let a = vec2<u32>(keys[i], places[i]);
        let b = vec2<u32>(keys[i + gap], places[i + gap]);
        if (before(b, a) == ((i & size) == 0u)) {
          keys[i] = b.x;
          places[i] = b.y;
          keys[i + gap] = a.x;
          places[i + gap] = a.y;
        }
      }
      workgroupBarrier();
    }
  }
}

// The least power of two from 2 to 1,024 that holds n.
fn width_of(n: u32) -> u32 { return max(2u, 1u << (32u - countLeadingZeros(min(n, BLOCK) - 1u))); }

@compute @workgroup_size(256)
fn rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = group.y * groups.x + group.x;
  let width = width_of(p.length);
  fetch(min(row, p.rows - 1u), 0u, p.length, width, lane);
  order(width, lane);
  if (row >= p.rows) { return; }
  let start = row_start(row);
  for (var j = lane; j < p.length; j += 256u) { y[start + j * p.inner] = i32(places[j]); }
}

@compute @workgroup_size(256)
fn blocks(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
  let per_row = (p.length + BLOCK - 1u) / BLOCK;
  let at = group.y * groups.x + group.x;
  let row = min(at / per_row, p.rows - 1u);
  let first = (at % per_row) * BLOCK;
  let n = min(BLOCK, p.length - first);
  fetch(row, first, n, BLOCK, lane);
  order(BLOCK, lane);
  if (at >= p.rows * per_row) { return; }
  for (var j = lane; j < n; j += 256u) { even[row * p.length + first + j] = vec2<u32>(keys[j], places[j]); }
}

fn source(at: u32) -> vec2<u32> {
  if ((turn.level & 1u) == 1u) { return odd[at]; }
  return even[at];
}

@compute @workgroup_size(256)
fn merge(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let per_row = (turn.length + EACH - 1u) / EACH;
  let at = (group.y * groups.x + group.x) * 256u + lane;
  if (at >= turn.rows * per_row) { return; }
  let base = (at / per_row) * turn.length;
  let out = (at % per_row) * EACH;
  let run = BLOCK << turn.level;
  let first = out & ~(run * 2u - 1u); // of the left run
  let middle = min(first + run, turn.length);
  let end = min(middle + run, turn.length);
  let left = middle - first;
  let right = end - middle;
  let diagonal = out - first;
  var low = diagonal - min(diagonal, right);
  var high = min(diagonal, left);
  while (low < high) {
    let half = (low + high) / 2u;
    if (before(source(base + first + half), source(base + middle + diagonal - 1u - half))) { low = half + 1u; } else { high = half; }
  }
  var i = first + low;
  var j = middle + diagonal - low;
  var a = source(base + min(i, middle - 1u));
  var b = source(base + min(j, end - 1u));
  for (var e = 0u; e < EACH && out + e < end; e++) {
    let take_left = i < middle && (j >= end || before(a, b));
    let taken = select(b, a, take_left);
    if ((turn.level & 1u) == 1u) { even[base + out + e] = taken; } else { odd[base + out + e] = taken; }
    if (take_left) {
      i++;
      a = source(base + min(i, middle - 1u));
    } else {
      j++;
      b = source(base + min(j, end - 1u));
    }
  }
}

@compute @workgroup_size(256)
fn emit(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let at = (group.y * groups.x + group.x) * 256u + lane;
  if (at >= p.rows * p.length) { return; }
  var place = even[at].y;
  if ((p.levels & 1u) == 1u) { place = odd[at].y; }
  y[row_start(at / p.length) + (at % p.length) * p.inner] = i32(place);
}
