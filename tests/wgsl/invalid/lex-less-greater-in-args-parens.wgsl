// expect: wgsl/wrong-kind-of-name 2
fn g(a: bool, b: bool) {} fn f(a: i32, b: i32, c: i32) { g(a < b, b > (c)); }
