// expect: wgsl/not-enabled 2
@compute @workgroup_size(64) fn main(@builtin(subgroup_size) b: u32) {}
