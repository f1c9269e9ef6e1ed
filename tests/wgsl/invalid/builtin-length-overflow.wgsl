// expect: wgsl/const-error 2
const a = length(vec2f(1e30, 1e30));
