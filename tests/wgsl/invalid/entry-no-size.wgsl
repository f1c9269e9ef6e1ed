// expect: wgsl/entry-point 2
@compute fn main() {}
