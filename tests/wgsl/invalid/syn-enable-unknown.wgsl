// expect: wgsl/feature-unavailable 2
enable foo;
