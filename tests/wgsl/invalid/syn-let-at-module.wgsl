// expect: wgsl/syntax 2
let a = 1;
