// expect: wgsl/type-mismatch 2
override o: i32 = 1.5;
