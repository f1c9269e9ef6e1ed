// expect: wgsl/no-overload 2
const a = mat2x2f(mat3x3f());
