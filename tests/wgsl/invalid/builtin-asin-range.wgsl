// expect: wgsl/const-error 2
const a = asin(-1.5f);
