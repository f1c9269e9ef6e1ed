// expect: wgsl/literal-range 2
const a = 0x80000000i;
