// expect: wgsl/attribute 2
@compute @workgroup_size fn main() {}
