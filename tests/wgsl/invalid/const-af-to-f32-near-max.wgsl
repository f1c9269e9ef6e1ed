// expect: wgsl/const-error 2
const a: f32 = 3.4028235e38;
