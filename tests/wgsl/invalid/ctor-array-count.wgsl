// expect: wgsl/argument-count 2
const a = array<i32, 3>(1, 2);
