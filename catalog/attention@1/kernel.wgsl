// Scaled dot-product attention, 32 queries a workgroup against 32 keys at a time: the scores of a tile never leave the
// workgroup, and the result so far is kept a weighted mean by the greatest score and the sum so far (Dao et al., 2022).
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params {
  mask: View, mask_row: u32, has_mask: u32, causal: u32,
  q: u32, k: u32, d: u32, e: u32, heads: u32, share: u32, scale: f32, count: u32,
}
@group(0) @binding(0) var<storage, read> query: array<T>;
@group(0) @binding(1) var<storage, read> key: array<T>;
@group(0) @binding(2) var<storage, read> value: array<T>;
@group(0) @binding(3) var<storage, read> mask: array<T>;
@group(0) @binding(4) var<storage, read_write> y: array<T>;
@group(0) @binding(5) var<uniform> p: Params;

override SLICES: u32 = 8;  // 32 elements of a query at a time
override COLUMNS: u32 = 8; // 32 elements of a value at a time
const LOW = -3.4e38;
const PITCH = 33u;
var<workgroup> left: array<f32, 1056>;  // queries: row, element
var<workgroup> right: array<f32, 1056>; // keys: element, key; or values: key, element
var<workgroup> score: array<f32, 1056>; // row, key

fn mask_at(matrix: u32) -> u32 {
  var rest = matrix;
  var at = p.mask.offset;
  for (var r = p.mask.rank; r > 0u; r--) {
    let i = r - 1u;
    let n = p.mask.dims[i / 4u][i % 4u];
    at += (rest % n) * p.mask.strides[i / 4u][i % 4u];
    rest /= n;
  }
  return at;
}

// Four neighbours of the tile on the right.
fn four(at: u32) -> vec4<f32> { return vec4<f32>(right[at], right[at + 1u], right[at + 2u], right[at + 3u]); }

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tiles = (p.q + 31u) / 32u;
  let job = group.y * groups.x + group.x;
  if (job >= p.count) { return; }
  let matrix = job / tiles;
  let row0 = (job % tiles) * 32u;
  let shared_matrix = (matrix / p.heads) * (p.heads / p.share) + (matrix % p.heads) / p.share;
  let query0 = matrix * p.q * p.d;
  let key0 = shared_matrix * p.k * p.d;
  let value0 = shared_matrix * p.k * p.e;
  let r = lane / 8u; // this lane's rows are r and r + 16, its four columns 4 c and on
  let c = (lane % 8u) * 4u;
  var mask0 = 0u;
  if (p.has_mask != 0u) { mask0 = mask_at(matrix); }

  var out: array<array<vec4<f32>, 8>, 2>;
  var greatest = array<f32, 2>(LOW, LOW);
  var total = array<f32, 2>(0.0, 0.0);
  var end = p.k;
  if (p.causal != 0u) { end = min(p.k, row0 + 32u); }
  for (var k0 = 0u; k0 < end; k0 += 32u) {
    var sum = array<vec4<f32>, 2>(vec4<f32>(0.0), vec4<f32>(0.0));
    for (var s = 0u; s < SLICES; s++) {
      workgroupBarrier();
      for (var i = lane; i < 1024u; i += 128u) {
        let at = s * 32u + i % 32u;
        let row = row0 + i / 32u;
        let j = k0 + i / 32u;
        var a = 0.0;
        var b = 0.0;
        if (at < p.d && row < p.q) { a = f32(query[query0 + row * p.d + at]); }
        if (at < p.d && j < p.k) { b = f32(key[key0 + j * p.d + at]); }
        left[(i / 32u) * PITCH + i % 32u] = a;
        right[(i % 32u) * PITCH + i / 32u] = b;
      }
      workgroupBarrier();
      for (var i = 0u; i < 32u; i++) {
        let b = four(i * PITCH + c);
        sum[0] += left[r * PITCH + i] * b;
        sum[1] += left[(r + 16u) * PITCH + i] * b;
      }
    }
    for (var h = 0u; h < 2u; h++) {
      let row = row0 + r + h * 16u;
      for (var i = 0u; i < 4u; i++) {
        let j = k0 + c + i;
        var v = sum[h][i] * p.scale;
        if (p.has_mask != 0u && row < p.q && j < p.k) { v += f32(mask[mask0 + row * p.mask_row + j]); }
        if (j >= p.k || (p.causal != 0u && j > row)) { v = LOW; }
        sum[h][i] = v;
        score[(r + h * 16u) * PITCH + c + i] = v;
      }
    }
    workgroupBarrier();
    var shrink: array<f32, 2>;
    for (var h = 0u; h < 2u; h++) {
      var m = greatest[h];
      for (var i = 0u; i < 32u; i++) { m = max(m, score[(r + h * 16u) * PITCH + i]); }
      shrink[h] = exp(greatest[h] - m);
      greatest[h] = m;
    }
    workgroupBarrier();
    for (var h = 0u; h < 2u; h++) {
      for (var i = 0u; i < 4u; i++) {
        let j = k0 + c + i;
        let masked = j >= p.k || (p.causal != 0u && j > row0 + r + h * 16u);
        score[(r + h * 16u) * PITCH + c + i] = select(exp(sum[h][i] - greatest[h]), 0.0, masked);
      }
    }
    workgroupBarrier();
    for (var h = 0u; h < 2u; h++) {
      var t = 0.0;
      for (var i = 0u; i < 32u; i++) { t += score[(r + h * 16u) * PITCH + i]; }
      let before = total[h] * shrink[h];
      total[h] = before + t;
      shrink[h] = select(before / total[h], 0.0, total[h] == 0.0);
    }
    workgroupBarrier();
    for (var h = 0u; h < 2u; h++) { // weights that add up to 1: a sum of values times them overflows only where the result does
      for (var i = 0u; i < 4u; i++) {
        let at = (r + h * 16u) * PITCH + c + i;
        score[at] = select(score[at] / total[h], 0.0, total[h] == 0.0);
      }
    }
    for (var s = 0u; s < COLUMNS; s++) {
      workgroupBarrier();
      for (var i = lane; i < 1024u; i += 128u) {
        let at = s * 32u + i % 32u;
        let j = k0 + i / 32u;
        var b = 0.0;
        if (at < p.e && j < p.k) { b = f32(value[value0 + j * p.e + at]); }
        right[(i / 32u) * PITCH + i % 32u] = b;
      }
      workgroupBarrier();
      var a0 = out[0][s] * shrink[0];
      var a1 = out[1][s] * shrink[1];
      for (var i = 0u; i < 32u; i++) {
        let b = four(i * PITCH + c);
        a0 += score[r * PITCH + i] * b;
        a1 += score[(r + 16u) * PITCH + i] * b;
      }
      out[0][s] = a0;
      out[1][s] = a1;
    }
    workgroupBarrier();
  }
  for (var h = 0u; h < 2u; h++) {
    let row = row0 + r + h * 16u;
    for (var s = 0u; s < COLUMNS; s++) {
      for (var i = 0u; i < 4u; i++) {
        let at = s * 32u + c + i;
        var v = out[h][s][i];
        if (total[h] == 0.0) { v /= total[h]; } // every key is hidden: not a number
        if (row < p.q && at < p.e) { y[(matrix * p.q + row) * p.e + at] = T(v); }
      }
    }
  }
}
