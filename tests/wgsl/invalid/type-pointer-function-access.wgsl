// expect: wgsl/access 2
fn g(p: ptr<function, i32, read_write>) {}
