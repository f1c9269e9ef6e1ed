@group(0) @binding(0) var<uniform> a: array<vec3f, 4>;
