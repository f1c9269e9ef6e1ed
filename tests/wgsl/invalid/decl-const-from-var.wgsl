// expect: wgsl/not-constant 3
var<private> v: i32;
const c = v;
