// expect: wgsl/directive 3
;
enable f16;
