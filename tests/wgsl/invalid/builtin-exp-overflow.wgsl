// expect: wgsl/const-error 2
const a = exp(100f);
