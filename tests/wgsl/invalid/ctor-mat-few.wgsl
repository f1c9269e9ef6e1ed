// expect: wgsl/no-overload 2
const a = mat2x2f(1, 2, 3);
