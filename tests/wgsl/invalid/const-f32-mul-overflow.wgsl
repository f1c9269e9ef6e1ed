// expect: wgsl/const-error 2
const a = 1e30f * 1e30f;
