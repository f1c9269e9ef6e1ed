// expect: wgsl/bad-token 2
fn f() { let ①a = 1; }
