// expect: wgsl/not-constant 3
var<private> v = 1;
override o = v;
