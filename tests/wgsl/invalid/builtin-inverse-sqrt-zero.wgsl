// expect: wgsl/const-error 2
const a = inverseSqrt(0.0);
