// expect: wgsl/literal-range 2
const a = 9223372036854775808;
