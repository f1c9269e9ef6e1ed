// expect: wgsl/attribute 2
@stage(compute) @workgroup_size(1) fn f() {}
