// expect: wgsl/reserved-word 2
const filter = 1;
