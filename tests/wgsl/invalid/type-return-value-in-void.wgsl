// expect: wgsl/type-mismatch 3
fn f() {
  return 1;
}
