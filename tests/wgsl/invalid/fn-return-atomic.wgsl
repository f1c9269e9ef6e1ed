// expect: wgsl/type-not-allowed 2
fn f() -> atomic<i32> {}
