// expect: wgsl/not-constant 3
override o = 1;
const c = o;
