// expect: wgsl/index-out-of-range 3
const a = vec2(1, 2);
const b = a[-1];
