// expect: wgsl/bad-token 2
fn f() { let a = "x"; }
