// expect: wgsl/missing-return 2
fn f() -> i32 {}
