// expect: wgsl/const-error 2
const a = 3e38f + 3e38f;
