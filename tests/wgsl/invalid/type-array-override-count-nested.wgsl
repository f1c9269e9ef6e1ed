// expect: wgsl/type-not-allowed 3
override N = 4;
var<workgroup> a: array<array<i32, N>, 2>;
