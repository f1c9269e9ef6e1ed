// expect: wgsl/not-constant 3
var<private> x = 1;
@compute @workgroup_size(x) fn main() {}
