// expect: wgsl/type-not-allowed 2
@group(0) @binding(0) var<uniform> a: bool;
