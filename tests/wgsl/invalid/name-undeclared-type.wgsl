// expect: wgsl/unresolved-name 2
fn f(a: foo) {}
