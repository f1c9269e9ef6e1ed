// expect: wgsl/const-error 2
const a = degrees(3e38f);
