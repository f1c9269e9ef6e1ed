// expect: wgsl/const-error 2
const a = bitcast<f32>(0x7f800000);
