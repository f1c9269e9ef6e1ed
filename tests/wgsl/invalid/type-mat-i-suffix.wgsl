// expect: wgsl/unresolved-name 2
var<private> a: mat2x2i;
