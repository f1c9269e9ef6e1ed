// expect: wgsl/const-error 2
const a = pow(-1.0, 2.0);
