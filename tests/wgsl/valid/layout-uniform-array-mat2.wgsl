@group(0) @binding(0) var<uniform> a: array<mat2x2f, 3>;
