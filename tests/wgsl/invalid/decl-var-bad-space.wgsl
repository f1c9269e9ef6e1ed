// expect: wgsl/address-space 2
var<foo> a: i32;
