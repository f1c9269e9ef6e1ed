// expect: wgsl/limit 2
@group(0) @binding(0) var<storage> b: array<vec4f, 268435456>;
