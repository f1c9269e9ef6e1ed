// expect: wgsl/access 2
var<workgroup, read_write> a: i32;
