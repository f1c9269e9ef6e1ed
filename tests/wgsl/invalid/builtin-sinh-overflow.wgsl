// expect: wgsl/const-error 2
const a = sinh(1000.0f);
