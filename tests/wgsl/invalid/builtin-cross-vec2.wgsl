// expect: wgsl/no-overload 2
const a = cross(vec2(1, 0), vec2(0, 1));
