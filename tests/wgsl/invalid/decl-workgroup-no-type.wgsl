// expect: wgsl/initializer 2
var<workgroup> a;
