// expect: wgsl/type-not-allowed 2
var<private> a: array<i32>;
