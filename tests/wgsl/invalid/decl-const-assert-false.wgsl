// expect: wgsl/const-assert-failed 2
const_assert 1 > 2;
