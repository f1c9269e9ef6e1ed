// expect: wgsl/const-error 3
enable f16;
const a = 60000h + 10000h;
