// expect: wgsl/address-space 3
const private = 1;
var<private> a: i32;
