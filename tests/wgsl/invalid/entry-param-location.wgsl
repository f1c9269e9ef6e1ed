// expect: wgsl/unsupported 2
@compute @workgroup_size(1) fn main(@location(0) a: f32) {}
