// expect: wgsl/access 2
fn g(p: ptr<private, i32, read>) {}
