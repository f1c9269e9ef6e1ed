// expect: wgsl/attribute 2
@align(4) alias A = i32;
