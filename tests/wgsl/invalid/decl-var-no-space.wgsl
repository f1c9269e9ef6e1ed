// expect: wgsl/address-space 2
var a: i32;
