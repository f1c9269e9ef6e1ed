// expect: wgsl/argument-count 2
const a = abs(1, 2);
