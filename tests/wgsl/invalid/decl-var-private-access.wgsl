// expect: wgsl/access 2
var<private, read_write> a: i32;
