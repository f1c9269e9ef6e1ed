var<workgroup> n: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) w: vec3u) {
  let x = workgroupUniformLoad(&n[w.x]);
}
