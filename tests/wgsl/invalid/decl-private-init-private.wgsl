// expect: wgsl/not-constant 3
var<private> a = 1;
var<private> b = a;
