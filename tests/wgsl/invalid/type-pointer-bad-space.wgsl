// expect: wgsl/address-space 2
fn g(p: ptr<foo, i32>) {}
