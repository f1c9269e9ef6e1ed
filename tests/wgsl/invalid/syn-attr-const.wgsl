// expect: wgsl/attribute 2
@const fn f() {}
