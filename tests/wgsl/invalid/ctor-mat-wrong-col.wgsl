// expect: wgsl/no-overload 2
const a = mat2x3f(vec2f(), vec2f());
