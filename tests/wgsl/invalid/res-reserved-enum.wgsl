// expect: wgsl/reserved-word 2
const enum = 1;
