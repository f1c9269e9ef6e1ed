// expect: wgsl/limit 2
var<private> a: array<u32, 100000>;
