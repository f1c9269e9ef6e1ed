// expect: wgsl/type-not-allowed 2
const a = array<i32>(1, 2);
