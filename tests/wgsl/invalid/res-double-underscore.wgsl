// expect: wgsl/reserved-word 2
const __a = 1;
