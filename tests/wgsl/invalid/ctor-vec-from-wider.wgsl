// expect: wgsl/no-overload 2
const a = vec2f(vec3f());
