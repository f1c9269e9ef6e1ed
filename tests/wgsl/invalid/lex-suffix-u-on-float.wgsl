// expect: wgsl/bad-token 2
const a = 1.5u;
