// expect: wgsl/type-mismatch 3
fn f() {
  while 1 {}
}
