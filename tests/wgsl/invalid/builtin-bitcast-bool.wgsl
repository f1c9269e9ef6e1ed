// expect: wgsl/no-overload 2
const a = bitcast<bool>(1u);
