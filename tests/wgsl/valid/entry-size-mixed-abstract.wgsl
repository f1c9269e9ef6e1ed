@compute @workgroup_size(1u, 1, 2u) fn main() {}
