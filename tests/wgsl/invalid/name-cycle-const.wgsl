// expect: wgsl/cycle 2
const a = b;
const b = a;
