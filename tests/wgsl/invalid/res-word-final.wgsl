// expect: wgsl/reserved-word 2
const final = 1;
