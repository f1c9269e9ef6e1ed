// expect: wgsl/syntax 2
var<> a: i32;
