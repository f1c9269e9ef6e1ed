// expect: wgsl/no-overload 2
const a = abs(true);
