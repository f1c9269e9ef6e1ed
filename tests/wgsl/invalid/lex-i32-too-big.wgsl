// expect: wgsl/literal-range 2
const a = 2147483648i;
