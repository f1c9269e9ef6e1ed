// expect: wgsl/no-overload 2
const a = false && (1 + true);
