// expect: wgsl/literal-range 3
const a = 2147483647i + 1i;
const_assert a == -2147483648i;
