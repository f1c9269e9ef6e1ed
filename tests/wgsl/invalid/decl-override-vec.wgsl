// expect: wgsl/type-not-allowed 2
override o: vec2f;
