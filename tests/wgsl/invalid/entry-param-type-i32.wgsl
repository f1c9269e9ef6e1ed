// expect: wgsl/entry-point 2
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) a: vec3<i32>) {}
