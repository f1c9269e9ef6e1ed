// expect: wgsl/const-error 2
const a = extractBits(1u, 20u, 20u);
