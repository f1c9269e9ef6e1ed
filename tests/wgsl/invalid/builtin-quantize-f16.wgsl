// expect: wgsl/no-overload 3
enable f16;
const a = quantizeToF16(1h);
