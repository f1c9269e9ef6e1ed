// expect: wgsl/reserved-word 2
const type = 1;
