// expect: wgsl/reserved-word 2
fn demote() {}
