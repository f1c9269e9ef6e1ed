// expect: wgsl/redeclared 2
fn f(a: i32, a: i32) {}
