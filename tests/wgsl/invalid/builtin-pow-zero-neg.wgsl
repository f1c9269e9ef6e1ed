// expect: wgsl/const-error 2
const a = pow(0.0, -1.0);
