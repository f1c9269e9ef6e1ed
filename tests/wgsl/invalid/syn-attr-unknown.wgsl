// expect: wgsl/attribute 2
@foo fn f() {}
