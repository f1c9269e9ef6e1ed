// expect: wgsl/const-error 2
const a: i32 = 2147483648;
