// expect: wgsl/type-mismatch 2
@compute @workgroup_size(1i, 1u) fn main() {}
