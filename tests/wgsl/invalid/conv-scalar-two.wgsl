// expect: wgsl/no-overload 2
const a = f32(1, 2);
