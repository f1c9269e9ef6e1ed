// expect: wgsl/reserved-word 2
const _ = 1;
