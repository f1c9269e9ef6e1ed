// expect: wgsl/no-overload 2
const a = normalize(1.0);
