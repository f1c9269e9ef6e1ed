// expect: wgsl/const-error 2
const a = ldexp(1f, 129);
