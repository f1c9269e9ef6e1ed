// expect: wgsl/attribute 2
@id(1) const c = 1;
