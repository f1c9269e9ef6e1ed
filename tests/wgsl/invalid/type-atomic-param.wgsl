// expect: wgsl/type-not-allowed 2
fn f(a: atomic<u32>) {}
