// expect: wgsl/not-constant 3
@group(0) @binding(0) var<storage, read_write> b: array<i32>;
const n = arrayLength(&b);
