// expect: wgsl/attribute 2
@group(-1) @binding(0) var<storage> a: i32;
