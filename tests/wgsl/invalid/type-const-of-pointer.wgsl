// expect: wgsl/not-constant 3
var<private> a: i32;
const p = &a;
