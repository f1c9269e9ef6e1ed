// expect: wgsl/attribute 2
fn f(@group(0) a: i32) {}
