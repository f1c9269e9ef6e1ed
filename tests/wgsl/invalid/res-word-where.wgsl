// expect: wgsl/reserved-word 2
const where = 1;
