// expect: wgsl/literal-range 4
const_assert abs(-3) == 3;
const_assert abs(-2.5f) == 2.5f;
const_assert abs(-2147483648i) == -2147483648i;
const a = abs(vec2(-1.0, 2));
