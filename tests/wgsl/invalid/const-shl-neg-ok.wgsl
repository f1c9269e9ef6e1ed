// expect: wgsl/literal-range 3
const a = -1i << 31u;
const_assert a == -2147483648i;
