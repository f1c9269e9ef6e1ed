// expect: wgsl/const-error 2
const a = sqrt(-1.0);
