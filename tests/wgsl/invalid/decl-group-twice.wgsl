// expect: wgsl/attribute 2
@group(0) @group(0) @binding(0) var<storage> a: i32;
