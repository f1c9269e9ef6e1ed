@compute @workgroup_size(65536, 32767, 1) fn main() {}
