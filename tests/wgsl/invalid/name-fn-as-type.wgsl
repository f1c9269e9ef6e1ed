// expect: wgsl/wrong-kind-of-name 3
fn g() {}
fn f(x: g) {}
