// expect: wgsl/attribute 2
@must_use @compute @workgroup_size(1) fn main() {}
