// expect: wgsl/no-overload 2
const a = f32(vec2f());
