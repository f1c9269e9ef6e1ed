// expect: wgsl/attribute 2
@group(0) var<workgroup> a: i32;
