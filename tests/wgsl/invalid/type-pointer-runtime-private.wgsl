// expect: wgsl/type-not-allowed 2
fn g(p: ptr<private, array<i32>>) {}
