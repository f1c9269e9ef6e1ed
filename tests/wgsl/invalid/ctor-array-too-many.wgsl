// expect: wgsl/argument-count 2
const a = array<i32, 1>(1, 2);
