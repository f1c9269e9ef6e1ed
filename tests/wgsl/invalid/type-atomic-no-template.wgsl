// expect: wgsl/template 2
var<workgroup> a: atomic;
