// expect: wgsl/attribute 2
@group(0) @binding(0) var<private> a: i32;
