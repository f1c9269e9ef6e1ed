// expect: wgsl/binding 2
@binding(0) var<storage> a: i32;
