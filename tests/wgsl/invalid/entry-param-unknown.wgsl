// expect: wgsl/attribute 2
@compute @workgroup_size(1) fn main(@builtin(thread_id) a: u32) {}
