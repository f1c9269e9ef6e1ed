// expect: wgsl/initializer 2
override a;
