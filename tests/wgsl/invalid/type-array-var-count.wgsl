// expect: wgsl/not-constant 3
var<private> n: i32;
var<private> a: array<i32, n>;
