// expect: wgsl/const-error 2
const a = acos(1.5);
