// expect: wgsl/const-error 2
const a = (-2147483647i - 1i) / -1i;
