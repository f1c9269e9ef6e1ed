// expect: wgsl/reserved-word 2
const of = 1;
