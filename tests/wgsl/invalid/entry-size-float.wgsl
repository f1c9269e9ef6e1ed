// expect: wgsl/type-mismatch 2
@compute @workgroup_size(1.0) fn main() {}
