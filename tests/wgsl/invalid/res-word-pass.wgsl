// expect: wgsl/reserved-word 2
const pass = 1;
