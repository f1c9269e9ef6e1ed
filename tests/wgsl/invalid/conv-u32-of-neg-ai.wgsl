// expect: wgsl/const-error 2
const a = u32(-1);
