// expect: wgsl/reserved-word 2
const get = 1;
