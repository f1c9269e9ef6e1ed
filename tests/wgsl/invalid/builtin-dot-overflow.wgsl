// expect: wgsl/const-error 2
const a = dot(vec2f(1e30), vec2f(1e30));
