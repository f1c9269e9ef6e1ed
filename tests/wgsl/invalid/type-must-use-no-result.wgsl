// expect: wgsl/attribute 2
@must_use fn g() {}
