// expect: wgsl/attribute 2
@compute @compute @workgroup_size(1) fn main() {}
