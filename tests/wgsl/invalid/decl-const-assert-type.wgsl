// expect: wgsl/type-mismatch 2
const_assert 1;
