// expect: wgsl/no-overload 2
const a = vec3f(1, 2);
