// expect: wgsl/const-error 2
const a = 1i / 0i;
