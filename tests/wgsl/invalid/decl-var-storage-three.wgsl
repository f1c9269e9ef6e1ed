// expect: wgsl/template 2
@group(0) @binding(0) var<storage, read, read> a: i32;
