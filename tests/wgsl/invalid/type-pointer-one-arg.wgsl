// expect: wgsl/template 2
fn g(p: ptr<function>) {}
