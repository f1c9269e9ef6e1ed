// expect: wgsl/entry-point 3
struct In {
  @builtin(workgroup_id) a: vec3u
}
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) a: vec3u, i: In) {}
