// expect: wgsl/no-overload 2
const a = dot(1, 2);
