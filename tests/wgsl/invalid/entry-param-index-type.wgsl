// expect: wgsl/entry-point 2
@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) a: i32) {}
