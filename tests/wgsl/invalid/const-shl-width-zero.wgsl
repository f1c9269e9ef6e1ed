// expect: wgsl/const-error 2
const a = 0u << 32u;
