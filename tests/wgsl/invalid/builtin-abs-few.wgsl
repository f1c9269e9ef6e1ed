// expect: wgsl/argument-count 2
const a = abs();
