// expect: wgsl/const-error 2
const a = bitcast<f32>(4000000000);
