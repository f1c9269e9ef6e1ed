// expect: wgsl/limit 2
var<private> a: array<u32, 2048>; var<workgroup> b: array<u32, 65536>;
