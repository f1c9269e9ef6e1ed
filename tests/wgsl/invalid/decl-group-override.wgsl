// expect: wgsl/not-constant 3
override G = 1;
@group(G) @binding(0) var<storage> a: i32;
