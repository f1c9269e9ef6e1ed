// expect: wgsl/literal-range 2
const a = 4294967296u;
