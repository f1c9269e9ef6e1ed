// expect: wgsl/bad-token 2
fn f() {} /* never closed
