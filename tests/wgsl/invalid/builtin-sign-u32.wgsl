// expect: wgsl/no-overload 2
const a = sign(1u);
