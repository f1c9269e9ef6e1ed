// expect: wgsl/address-space 2
fn g(p: ptr<function, atomic<i32>>) {}
