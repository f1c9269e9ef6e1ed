// run: grid=2 fill=random
// An exclusive scan and a histogram through workgroup memory.
@group(0) @binding(0) var<storage, read> x: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> o: array<u32, 128>;
@group(0) @binding(2) var<storage, read_write> h: array<atomic<u32>, 16>;
@group(0) @binding(3) var<storage, read_write> top: array<atomic<i32>, 4>;
var<workgroup> a: array<u32, 64>;
var<workgroup> bins: array<atomic<u32>, 16>;
var<workgroup> total: u32;
@compute @workgroup_size(4, 8, 2) fn main(@builtin(workgroup_id) w: vec3<u32>, @builtin(local_invocation_id) at: vec3<u32>,
                                          @builtin(local_invocation_index) l: u32, @builtin(num_workgroups) n: vec3<u32>) {
  let i = w.x * 64u + at.x + 4u * at.y + 32u * at.z;
  a[l] = x[i];
  atomicAdd(&bins[x[i] & 15u], 1u);
  workgroupBarrier();
  for (var step = 1u; step < 64u; step <<= 1u) {
    var v = a[l];
    if (l >= step) { v += a[l - step]; }
    workgroupBarrier();
    a[l] = v;
    workgroupBarrier();
  }
  if (l == 63u) { total = a[l] * n.x; }
  let all = workgroupUniformLoad(&total);
  o[i] = a[l] - x[i] + all;
  if (l < 16u) { atomicAdd(&h[l], atomicLoad(&bins[l])); }
  atomicMax(&top[0], i32(x[i]));
  atomicMin(&top[1], i32(x[i]));
  atomicOr(&top[2], i32(x[i]));
  atomicXor(&top[3], i32(x[i]));
}
