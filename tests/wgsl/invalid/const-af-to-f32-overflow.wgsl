// expect: wgsl/const-error 2
const a: f32 = 1e39;
