// expect: wgsl/unsupported 2
@compute @workgroup_size(1) fn main(@builtin(position) a: vec4f) {}
