// expect: wgsl/literal-range 2
enable f16; const a = 65520h;
