// expect: wgsl/attribute 2
@workgroup_size(1) fn main() {}
