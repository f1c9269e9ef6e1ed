// expect: wgsl/no-overload 2
const a = vec2<bool>(1, 0);
