// expect: wgsl/no-overload 2
const a = 1 << 1i;
