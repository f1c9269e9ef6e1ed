// expect: wgsl/const-error 2
const a = atanh(1.0);
