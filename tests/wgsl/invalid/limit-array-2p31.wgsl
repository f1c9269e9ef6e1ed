// expect: wgsl/const-error 2
@group(0) @binding(0) var<storage> b: array<u32, 2147483648>;
