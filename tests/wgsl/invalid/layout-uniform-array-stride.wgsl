// expect: wgsl/layout 2
@group(0) @binding(0) var<uniform> a: array<f32, 4>;
