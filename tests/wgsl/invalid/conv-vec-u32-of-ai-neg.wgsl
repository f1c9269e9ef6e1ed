// expect: wgsl/const-error 2
const a = vec2<u32>(vec2(-1, 2));
