// expect: wgsl/reserved-word 2
const target = 1;
