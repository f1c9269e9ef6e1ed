@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
  for (var i = 0u; i < g.x; i++) {}
  workgroupBarrier();
}
