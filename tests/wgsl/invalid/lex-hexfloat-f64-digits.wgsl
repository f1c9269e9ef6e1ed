// expect: wgsl/literal-range 2
const a = 0x1.123456789abcdef01p0;
