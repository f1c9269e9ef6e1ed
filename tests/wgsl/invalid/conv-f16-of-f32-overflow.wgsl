// expect: wgsl/const-error 3
enable f16;
const a = f16(1e6f);
