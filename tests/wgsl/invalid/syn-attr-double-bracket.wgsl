// expect: wgsl/syntax 2
[[stage(compute)]] fn f() {}
