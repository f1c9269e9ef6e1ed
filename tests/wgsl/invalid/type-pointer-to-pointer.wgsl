// expect: wgsl/type-not-allowed 2
fn g(p: ptr<function, ptr<function, i32>>) {}
