// expect: wgsl/type-mismatch 2
const a = array<i32, 2>(1, 2.5);
