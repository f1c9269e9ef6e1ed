// The loss of every row, one to 32 rows a workgroup; then their sum or mean in a fixed order.
alias T = f32;
struct Params { classes: u32, count: u32, words: u32, ignored: i32, smoothing: f32, mean: u32 }
@group(0) @binding(0) var<storage, read> logits: array<T>;
@group(0) @binding(1) var<storage, read> labels: array<u32>;
@group(0) @binding(2) var<storage, read_write> loss: array<T>;
@group(0) @binding(3) var<storage, read_write> rows: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

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
fn each(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let mine = (group.y * groups.x + group.x) * (256u / LANES) + lane / LANES;
  let row = min(mine, p.count - 1u);
  let first = lane % LANES;
  let base = row * p.classes;
  var greatest = f32(logits[base]);
  for (var j = first; j < p.classes; j += LANES) { greatest = max(greatest, f32(logits[base + j])); }
  greatest = highest(greatest, lane);
  var sum = 0.0;
  var all = 0.0;
  for (var j = first; j < p.classes; j += LANES) {
    let v = f32(logits[base + j]) - greatest;
    sum += exp(v);
    all += v;
  }
  let logarithm = log(whole(sum, lane));
  all = whole(all, lane);
  if (mine >= p.count || first != 0u) { return; }
  let label = label_of(row);
  var v = 0.0;
  if (label >= 0 && label < i32(p.classes)) { v = (1.0 - p.smoothing) * (logarithm - (f32(logits[base + u32(label)]) - greatest)); }
  if (p.smoothing > 0.0) { v += p.smoothing * (logarithm - all / f32(p.classes)); }
  if (label == p.ignored) { v = 0.0; }
  rows[row] = v;
}

@compute @workgroup_size(64)
fn copy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i < p.count) { loss[i] = T(rows[i]); }
}

@compute @workgroup_size(256)
fn total(@builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  var live = 0.0;
  for (var i = lane; i < p.count; i += 256u) {
    sum += rows[i];
    if (label_of(i) != p.ignored) { live += 1.0; }
  }
  part[lane] = sum;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  sum = part[0];
  workgroupBarrier();
  part[lane] = live;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  if (lane == 0u) { loss[0] = T(select(sum, sum / part[0], p.mean == 1u)); }
}
