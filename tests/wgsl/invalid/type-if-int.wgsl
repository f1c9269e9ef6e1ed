// expect: wgsl/type-mismatch 3
fn f() {
  if 1 {}
}
