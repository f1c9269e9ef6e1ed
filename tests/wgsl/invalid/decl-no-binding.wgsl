// expect: wgsl/binding 2
@group(0) var<storage> a: i32;
