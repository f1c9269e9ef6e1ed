@group(0) @binding(0) var<storage> b: array<u32, 100000>;
