// expect: wgsl/const-error 2
const a = quantizeToF16(70000.0);
