// expect: wgsl/limit 2
fn f() { let a = array<u32, 70000>(); }
