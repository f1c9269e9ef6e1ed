struct Bins {
  total: atomic<u32>,
  count: array<atomic<u32>, 64>,
}
@group(0) @binding(0) var<storage> values: array<f32>;
@group(0) @binding(1) var<storage, read_write> bins: Bins;
var<workgroup> local: array<atomic<u32>, 64>;

fn bin_of(x: f32) -> u32 {
  return u32(clamp(floor(x * 64.0), 0.0, 63.0));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) i: u32) {
  atomicStore(&local[i], 0u);
  workgroupBarrier();
  if g.x < arrayLength(&values) {
    atomicAdd(&local[bin_of(values[g.x])], 1u);
    atomicAdd(&bins.total, 1u);
  }
  workgroupBarrier();
  let n = atomicLoad(&local[i]);
  if n > 0u {
    atomicAdd(&bins.count[i], n);
  }
}
