// expect: wgsl/reserved-word 2
const from = 1;
