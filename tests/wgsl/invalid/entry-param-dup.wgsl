// expect: wgsl/entry-point 2
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) a: vec3u, @builtin(workgroup_id) b: vec3u) {}
