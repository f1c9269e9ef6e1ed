// expect: wgsl/const-error 2
const a = true && (1 / 0 == 1);
