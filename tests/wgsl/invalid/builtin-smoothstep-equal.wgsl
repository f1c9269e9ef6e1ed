// expect: wgsl/const-error 2
const a = smoothstep(1.0, 1.0, 0.5);
