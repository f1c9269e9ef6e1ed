// expect: wgsl/limit 2
var<workgroup> b: array<u32, 65537>;
