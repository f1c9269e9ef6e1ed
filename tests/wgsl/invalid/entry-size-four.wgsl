// expect: wgsl/attribute 2
@compute @workgroup_size(1, 1, 1, 1) fn main() {}
