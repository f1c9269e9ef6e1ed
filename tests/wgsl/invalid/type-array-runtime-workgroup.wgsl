// expect: wgsl/type-not-allowed 2
var<workgroup> a: array<i32>;
