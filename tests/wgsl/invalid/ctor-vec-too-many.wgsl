// expect: wgsl/no-overload 2
const a = vec2f(1, 2, 3);
