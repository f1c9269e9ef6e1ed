// expect: wgsl/initializer 2
@group(0) @binding(0) var<storage> a: i32 = 1;
