// expect: wgsl/binding 2
var<uniform> a: vec4f;
