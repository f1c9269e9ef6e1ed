// expect: wgsl/limit 2
@compute @workgroup_size(65536, 65536, 2) fn main() {}
