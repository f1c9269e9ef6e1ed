// expect: wgsl/type-mismatch 2
var<private> a: array<i32, 1.5>;
