// expect: wgsl/const-error 2
const a = i32(3000000000);
