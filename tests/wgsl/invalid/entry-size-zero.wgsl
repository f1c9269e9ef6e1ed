// expect: wgsl/entry-point 2
@compute @workgroup_size(0) fn main() {}
