// expect: wgsl/const-assert-failed 3
fn f() {
  const_assert false;
}
