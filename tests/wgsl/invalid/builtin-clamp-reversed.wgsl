// expect: wgsl/const-error 2
const a = clamp(1, 3, 2);
