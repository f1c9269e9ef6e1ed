// expect: wgsl/entry-point 2
@compute @workgroup_size(1) fn main(a: u32) {}
