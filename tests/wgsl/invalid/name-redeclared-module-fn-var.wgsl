// expect: wgsl/redeclared 3
fn a() {}
var<private> a: i32;
