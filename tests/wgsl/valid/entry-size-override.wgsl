override x = 8u;
override y: u32;
@compute @workgroup_size(x, y * 2, 1) fn main() {}
