// expect: wgsl/no-overload 2
const a = min(vec2(1, 2), 1);
