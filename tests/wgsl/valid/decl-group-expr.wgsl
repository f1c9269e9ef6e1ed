const G = 1;
@group(G + 1) @binding(2u) var<storage> a: i32;
