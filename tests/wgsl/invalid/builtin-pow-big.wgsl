// expect: wgsl/const-error 2
const a = pow(10f, 50f);
