// Updates in the order of (position, place along the axis), by a merge sort of each line: `blocks` sorts blocks of 1,024, each
// turn of `merge` joins runs in pairs, a lane eight results from where its diagonal of the pair begins (merge path). Then
// `sum` finds the first update of every position and adds those that mean it one after another.
alias T = f32;
struct Params { inner: u32, size: u32, length: u32, rows: u32, words: u32, positive: u32, levels: u32, count: u32 }
struct Turn { length: u32, rows: u32, level: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<storage, read_write> even: array<vec2<u32>>; // rows x length, the source of even turns
@group(0) @binding(5) var<storage, read_write> odd: array<vec2<u32>>;
@group(0) @binding(6) var<uniform> p: Params;
@group(0) @binding(7) var<uniform> turn: Turn;

const BLOCK = 1024u;
const EACH = 8u;
var<workgroup> keys: array<u32, 1024>;
var<workgroup> places: array<u32, 1024>;

// The index k as a position below the size: one word or, for 64 bits, low and high; negative ones count from the end, and
// those outside take the nearest element.
fn position(k: u32) -> u32 {
  if (p.positive == 1u) { return min(indices[k], p.size - 1u); }
  var index = bitcast<i32>(indices[k * p.words]);
  if (p.words == 2u) {
    let high = bitcast<i32>(indices[k * 2u + 1u]);
    if (high != (index >> 31u)) { index = select(2147483647, -2147483647, high < 0); }
  }
  if (index < 0) { index += i32(p.size); }
  return u32(clamp(index, 0, i32(p.size) - 1));
}

fn before(a: vec2<u32>, b: vec2<u32>) -> bool { return a.x < b.x || (a.x == b.x && a.y < b.y); }

@compute @workgroup_size(256)
fn blocks(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
  let per_row = (p.length + BLOCK - 1u) / BLOCK;
  let at = group.y * groups.x + group.x;
  let row = min(at / per_row, p.rows - 1u);
  let first = (at % per_row) * BLOCK;
  let n = min(BLOCK, p.length - first);
  let start = (row / p.inner) * p.length * p.inner + row % p.inner;
  for (var j = lane; j < BLOCK; j += 256u) {
    let place = first + min(j, n - 1u);
    keys[j] = select(0xffffffffu, position(start + place * p.inner), j < n);
    places[j] = select(0xffffffffu, place, j < n);
  }
  workgroupBarrier();
  for (var size = 2u; size <= BLOCK; size <<= 1u) {
    for (var gap = size >> 1u; gap > 0u; gap >>= 1u) {
      for (var c = lane; c < BLOCK / 2u; c += 256u) {
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
  if (at >= p.rows * per_row) { return; }
  for (var j = lane; j < n; j += 256u) { even[row * p.length + first + j] = vec2<u32>(keys[j], places[j]); }
}

fn source(at: u32, level: u32) -> vec2<u32> {
  if ((level & 1u) == 1u) { return odd[at]; }
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
  let diagonal = out - first;
  var low = diagonal - min(diagonal, end - middle);
  var high = min(diagonal, middle - first);
  while (low < high) {
    let half = (low + high) / 2u;
    if (before(source(base + first + half, turn.level), source(base + middle + diagonal - 1u - half, turn.level))) { low = half + 1u; } else { high = half; }
  }
  var i = first + low;
  var j = middle + diagonal - low;
  var a = source(base + min(i, middle - 1u), turn.level);
  var b = source(base + min(j, end - 1u), turn.level);
  for (var e = 0u; e < EACH && out + e < end; e++) {
    let take_left = i < middle && (j >= end || before(a, b));
    let taken = select(b, a, take_left);
    if ((turn.level & 1u) == 1u) { even[base + out + e] = taken; } else { odd[base + out + e] = taken; }
    if (take_left) {
      i++;
      a = source(base + min(i, middle - 1u), turn.level);
    } else {
      j++;
      b = source(base + min(j, end - 1u), turn.level);
    }
  }
}

@compute @workgroup_size(256)
fn sum(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
       @builtin(local_invocation_index) lane: u32) {
  let i = (group.y * groups.x + group.x) * 256u + lane;
  if (i >= p.count) { return; }
  let place = (i / p.inner) % p.size;
  let row = (i / (p.inner * p.size)) * p.inner + i % p.inner;
  let base = row * p.length;
  let start = (row / p.inner) * p.length * p.inner + row % p.inner;
  var low = 0u;
  var high = p.length;
  while (low < high) {
    let half = (low + high) / 2u;
    if (source(base + half, p.levels).x < place) { low = half + 1u; } else { high = half; }
  }
  var total = x[i];
  for (var j = low; j < p.length; j++) {
    let next = source(base + j, p.levels);
    if (next.x != place) { break; }
    total = total + updates[start + next.y * p.inner];
  }
  y[i] = total;
}
