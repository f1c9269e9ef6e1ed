// expect: wgsl/reserved-word 2
const set = 1;
