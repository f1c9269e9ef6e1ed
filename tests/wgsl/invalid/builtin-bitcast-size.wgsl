// expect: wgsl/no-overload 2
const a = bitcast<vec2<u32>>(1u);
