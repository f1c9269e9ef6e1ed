// expect: wgsl/literal-range 2
const a = 0x1p-150f;
