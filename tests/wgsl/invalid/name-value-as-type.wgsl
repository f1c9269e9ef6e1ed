// expect: wgsl/wrong-kind-of-name 3
const a = 1;
fn f(x: a) {}
