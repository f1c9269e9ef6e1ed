// expect: wgsl/const-error 2
const a = vec2i(1, 2) / vec2i(1, 0);
