// expect: wgsl/literal-range 2
const a = 0x1.00000001p0f;
