enable subgroups;
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
var<workgroup> part: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u,
        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) size: u32) {
  let s = subgroupAdd(x[w.x * 64u + i]);
  if lane == 0u {
    part[i / size] = s;
  }
  workgroupBarrier();
  if i == 0u {
    var sum = 0.0;
    for (var k = 0u; k < 64u / size; k++) {
      sum += part[k];
    }
    y[w.x] = sum;
  }
}
