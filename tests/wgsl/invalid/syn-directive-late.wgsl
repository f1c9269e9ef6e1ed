// expect: wgsl/directive 3
const a = 1;
enable f16;
