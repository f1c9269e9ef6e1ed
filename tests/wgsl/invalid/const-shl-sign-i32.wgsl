// expect: wgsl/const-error 2
const a = 0x40000000i << 1u;
