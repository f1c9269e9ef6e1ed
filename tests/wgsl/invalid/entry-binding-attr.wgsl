// expect: wgsl/attribute 2
@group(0) @compute @workgroup_size(1) fn main() {}
