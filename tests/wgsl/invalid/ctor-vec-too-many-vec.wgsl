// expect: wgsl/no-overload 2
const a = vec3f(vec2f(), vec2f());
