// expect: wgsl/syntax 2
const a: i32;
