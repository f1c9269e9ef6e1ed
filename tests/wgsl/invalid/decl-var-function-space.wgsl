// expect: wgsl/address-space 2
var<function> a: i32;
