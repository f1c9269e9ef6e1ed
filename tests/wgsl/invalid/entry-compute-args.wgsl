// expect: wgsl/attribute 2
@compute(1) @workgroup_size(1) fn main() {}
