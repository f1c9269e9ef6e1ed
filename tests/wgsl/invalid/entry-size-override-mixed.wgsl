// expect: wgsl/type-mismatch 4
override x = 8u;
override y = 1i;
@compute @workgroup_size(x, y) fn main() {}
