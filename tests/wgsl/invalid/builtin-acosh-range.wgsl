// expect: wgsl/const-error 2
const a = acosh(0.5);
