// expect: wgsl/no-overload 2
const a = countOneBits(1.0);
