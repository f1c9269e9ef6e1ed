// expect: wgsl/feature-unavailable 2
requires foo;
