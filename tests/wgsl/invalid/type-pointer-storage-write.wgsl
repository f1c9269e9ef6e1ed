// expect: wgsl/access 2
fn g(p: ptr<storage, i32, write>) {}
