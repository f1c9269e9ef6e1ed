// expect: wgsl/type-not-allowed 2
fn f(a: array<i32>) {}
