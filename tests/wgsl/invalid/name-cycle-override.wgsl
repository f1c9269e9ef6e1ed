// expect: wgsl/cycle 2
override a = b;
override b = a;
