// expect: wgsl/attribute 2
@group @binding(0) var<storage> a: i32;
