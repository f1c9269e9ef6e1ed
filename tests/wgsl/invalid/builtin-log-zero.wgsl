// expect: wgsl/const-error 2
const a = log(0.0);
