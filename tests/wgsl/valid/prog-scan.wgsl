override block: u32 = 256;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
var<workgroup> temp: array<u32, block>;

@compute @workgroup_size(block)
fn scan(@builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) wid: vec3u) {
  temp[i] = select(0u, data[gid.x], gid.x < arrayLength(&data));
  for (var step = 1u; step < block; step <<= 1u) {
    workgroupBarrier();
    var v = temp[i];
    if i >= step {
      v += temp[i - step];
    }
    workgroupBarrier();
    temp[i] = v;
  }
  if gid.x < arrayLength(&data) {
    data[gid.x] = temp[i];
  }
  if i == block - 1u {
    sums[wid.x] = temp[i];
  }
}
