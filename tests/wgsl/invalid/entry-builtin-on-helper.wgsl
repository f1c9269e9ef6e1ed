// expect: wgsl/attribute 2
fn f(@builtin(workgroup_id) a: vec3u) {}
