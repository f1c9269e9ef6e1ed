// expect: wgsl/syntax 3
enable f16
fn f() {}
