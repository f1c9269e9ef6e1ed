// expect: wgsl/no-overload 3
enable f16;
const a = bitcast<f16>(1u);
