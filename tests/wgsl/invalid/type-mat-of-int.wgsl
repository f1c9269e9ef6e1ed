// expect: wgsl/template 2
var<private> a: mat2x2<i32>;
