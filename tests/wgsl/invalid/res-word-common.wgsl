// expect: wgsl/reserved-word 2
const common = 1;
