// expect: wgsl/const-error 2
const a = normalize(vec2f());
