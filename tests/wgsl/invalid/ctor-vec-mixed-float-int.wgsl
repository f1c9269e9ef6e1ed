// expect: wgsl/no-overload 2
const a = vec2(1i, 2.5);
