// The rows that count; then the gradient of every row, one to 32 rows a workgroup.
alias T = f32;
struct Params { classes: u32, count: u32, words: u32, ignored: i32, smoothing: f32, reduction: u32 }
@group(0) @binding(0) var<storage, read> logits: array<T>;
@group(0) @binding(1) var<storage, read> labels: array<u32>;
@group(0) @binding(2) var<storage, read> d_loss: array<T>;
@group(0) @binding(3) var<storage, read_write> d_logits: array<T>;
@group(0) @binding(4) var<storage, read_write> live: array<f32>;
@group(0) @binding(5) var<uniform> p: Params;

override LANES: u32 = 256; // lanes a row: a power of 2, at most 256
var<workgroup> part: array<f32, 256>;

// The sum over the lanes of a row, in each of them.
fn whole(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    if (lane % LANES < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  let all = part[lane - lane % LANES];
  workgroupBarrier();
  return all;
}

// The greatest over the lanes of a row, in each of them.
fn highest(mine: f32, lane: u32) -> f32 {
  part[lane] = mine;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    if (lane % LANES < half) { part[lane] = max(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  let all = part[lane - lane % LANES];
  workgroupBarrier();
  return all;
}

// The label of a row. One of 64 bits that does not fit is no class.
fn label_of(row: u32) -> i32 {
  let low = bitcast<i32>(labels[row * p.words]);
  if (p.words == 2u && bitcast<i32>(labels[row * 2u + 1u]) != (low >> 31u)) { return -2147483647; }
  return low;
}

@compute @workgroup_size(256)
fn counted(@builtin(local_invocation_index) lane: u32) {
  var mine = 0u;
  for (var i = lane; i < p.count; i += 256u) { mine += select(0u, 1u, label_of(i) != p.ignored); }
  part[lane] = f32(mine);
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  if (lane == 0u) { live[0] = part[0]; }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let mine = (group.y * groups.x + group.x) * (256u / LANES) + lane / LANES;
  let row = min(mine, p.count - 1u);
  let first = lane % LANES;
  let base = row * p.classes;
  var greatest = f32(logits[base]);
  for (var j = first; j < p.classes; j += LANES) { greatest = max(greatest, f32(logits[base + j])); }
  greatest = highest(greatest, lane);
  var sum = 0.0;
  for (var j = first; j < p.classes; j += LANES) { sum += exp(f32(logits[base + j]) - greatest); }
  sum = whole(sum, lane);
  if (mine >= p.count) { return; }
  let label = label_of(row);
  let pull = select(0.0, 1.0 - p.smoothing, label >= 0 && label < i32(p.classes)) + p.smoothing;
  var scale = f32(d_loss[select(0u, row, p.reduction == 0u)]);
  if (p.reduction == 1u) { scale /= live[0]; }
  for (var j = first; j < p.classes; j += LANES) {
    let wanted = select(0.0, 1.0 - p.smoothing, i32(j) == label) + p.smoothing / f32(p.classes);
    let v = (exp(f32(logits[base + j]) - greatest) / sum * pull - wanted) * scale;
    d_logits[base + j] = T(select(v, 0.0, label == p.ignored));
  }
}
