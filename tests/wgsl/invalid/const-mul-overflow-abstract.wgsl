// expect: wgsl/const-error 2
const a = 9223372036854775807 * 2;
