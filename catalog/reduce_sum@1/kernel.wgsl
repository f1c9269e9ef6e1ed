// LANES lanes an output, 256 lanes a workgroup: each lane adds a strided part, then a tree in workgroup memory.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

override LANES: u32 = 64u; // a power of two, 256 at most
var<workgroup> part: array<f32, 256>;

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
  var at = p.reduced.offset;
  for (var r = p.reduced.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.reduced.dims[d / 4u][d % 4u];
    at += (rest % n) * p.reduced.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

// Terms first, first + step, ... below end: eight at a time, so that as many loads are on their way, added in pairs; else in blocks
// of 16. Either way the error grows like that of pairwise summation.
fn lane_sum(base: u32, first: u32, end: u32, step: u32) -> f32 {
  var sum = 0.0;
  var j = first;
  if (p.reduced.rank == 1u) {
    let s = step * p.reduced.strides[0].x;
    while (j + 7u * step < end) {
      let at = base + j * p.reduced.strides[0].x;
      let low = (f32(x[at]) + f32(x[at + s])) + (f32(x[at + 2u * s]) + f32(x[at + 3u * s]));
      let high = (f32(x[at + 4u * s]) + f32(x[at + 5u * s])) + (f32(x[at + 6u * s]) + f32(x[at + 7u * s]));
      sum += low + high;
      j += 8u * step;
    }
  }
  while (j < end) {
    var block = 0.0;
    for (var k = 0u; k < 16u && j < end; k++) {
      block += f32(x[base + reduced_at(j)]);
      j += step;
    }
    sum += block;
  }
  return sum;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) index: u32) {
  let lane = index % LANES;
  let i = (group.y * groups.x + group.x) * (256u / LANES) + index / LANES;
  part[index] = lane_sum(kept_at(min(i, p.count - 1u)), lane, p.length, LANES);
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    if (lane < half) { part[index] += part[index + half]; }
    workgroupBarrier();
  }
  if (lane == 0u && i < p.count) { y[i] = T(part[index]); }
}
