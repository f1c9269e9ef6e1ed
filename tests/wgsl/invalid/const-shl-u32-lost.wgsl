// expect: wgsl/const-error 2
const a = 0x80000000u << 1u;
