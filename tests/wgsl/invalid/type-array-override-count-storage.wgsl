// expect: wgsl/type-not-allowed 3
override N = 4;
@group(0) @binding(0) var<storage> a: array<i32, N>;
