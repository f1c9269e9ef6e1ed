// expect: wgsl/attribute 2
@compute @workgroup_size(1) @workgroup_size(1) fn main() {}
