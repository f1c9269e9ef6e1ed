// expect: wgsl/no-overload 2
const a = determinant(mat2x3f());
