// expect: wgsl/cycle 2
const a = a;
