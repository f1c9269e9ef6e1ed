// A workgroup a result. The key of the lower median is found digit by digit, eight bits at a time from the top: terms that
// agree so far are counted by their next digit. The upper one is the same, or the least key above it.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> prefix: u32; // digits found
var<workgroup> rank: u32;   // of the term among those that agree
var<workgroup> others: atomic<u32>; // keys up to the lower median
var<workgroup> above: atomic<u32>;  // the least key over it

fn kept_at(index: u32) -> u32 {
  var rest = index;
  var at = p.kept.offset;
  for (var r = p.kept.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.kept.dims[d / 4u][d % 4u];
    at += (rest % n) * p.kept.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn reduced_at(index: u32) -> u32 {
  var rest = index;
  var at = 0u;
  for (var r = p.reduced.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.reduced.dims[d / 4u][d % 4u];
    at += (rest % n) * p.reduced.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

// Unsigned numbers in the order of the values: both zeros equal, NaN last.
fn key(v: T) -> u32 {
  let bits = bitcast<u32>(f32(v));
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return 0xffffffffu; }
  return select(select(bits | 0x80000000u, ~bits, bits != magnitude), 0x80000000u, magnitude == 0u);
}

fn value(k: u32) -> T { return T(bitcast<f32>(select(~k, k & 0x7fffffffu, k >= 0x80000000u))); }

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  let base = kept_at(min(i, p.count - 1u));
  if (lane == 0u) {
    prefix = 0u;
    rank = (p.length - 1u) / 2u;
    atomicStore(&others, 0u);
    atomicStore(&above, 0xffffffffu);
  }
  for (var digit = 0u; digit < 4u; digit++) {
    let shift = 24u - 8u * digit;
    atomicStore(&counts[lane], 0u);
    workgroupBarrier();
    let found = prefix;
    for (var j = lane; j < p.length; j += 256u) {
      let k = key(x[base + reduced_at(j)]);
      if (digit == 0u || (k >> (shift + 8u)) == (found >> (shift + 8u))) { atomicAdd(&counts[(k >> shift) & 255u], 1u); }
    }
    workgroupBarrier();
    if (lane == 0u) {
      var rest = rank;
      var d = 0u;
      for (; d < 255u; d++) {
        let n = atomicLoad(&counts[d]);
        if (rest < n) { break; }
        rest -= n;
      }
      prefix = found | (d << shift);
      rank = rest;
    }
    workgroupBarrier();
  }
  let low = prefix;
  for (var j = lane; j < p.length; j += 256u) {
    let k = key(x[base + reduced_at(j)]);
    if (k <= low) { atomicAdd(&others, 1u); } else { atomicMin(&above, k); }
  }
  workgroupBarrier();
  if (lane != 0u || i >= p.count) { return; }
  let high = select(atomicLoad(&above), low, atomicLoad(&others) > p.length / 2u);
  if ((p.length & 1u) == 1u) { y[i] = value(low); } else { y[i] = value(low) * T(0.5) + value(high) * T(0.5); }
}
