// expect: wgsl/const-error 2
const a = log2(-1f);
